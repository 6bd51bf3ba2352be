import { type Accepted, checkEntry, isRejection, lacksTime, type Rejection, reject } from '../measurements/entry.ts';
import { withinRetention } from '../measurements/retention.ts';
import type { ReceiptTimes } from '../measurements/receipt-times.ts';
import { addToBatch, type DeviceBatch } from '../measurements/recorder.ts';
import { duplicate, lastOfEachKey, onlyPlaces } from '../measurements/replaced-entries.ts';
import { type SuggestionHint, suggestedField, type Suggestions } from '../measurements/suggestions.ts';
import type { IngestCache, DeviceInfo, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { type Ahead, aheadNotice, aheadOf, aheadOfAll } from '../times/ahead.ts';
import { isZoneless, readTime, type TimeBounds } from '../times/entry-time.ts';
import { deviceIdentity } from '../text/device-identity.ts';
import type { TextMask } from './call-secrets.ts';
import type { EntryOutcome } from './decoder-run.ts';
import { withOtherMistakes } from './all-mistakes.ts';
import { jsonBeginning } from './json-beginning.ts';
import type { RawEntry } from './decoder-output.ts';
import { must } from '../../must.ts';

/** Outcomes of the entries of one call, before anything is stored; `stored` and `rejected` count entries. */
export interface Judged {
  /** One outcome per entry, in their order. */
  entries: EntryOutcome[];
  /** Values to store: one batch per device, in the order in which they first appear. */
  batches: DeviceBatch[];
  stored: number;
  rejected: number;
  /** The call's receipt time in ms UTC: `receivedAt`, or later when one of its devices has a value of that time already. */
  receiptTime: number;
  /** The times that lie ahead of the server's clock; null: none. */
  ahead: Ahead | null;
  /** Real calls only: names that no device of the product has and one could have; the first 200 of them. */
  unknownNames: string[];
}

interface JudgeOptions {
  receivedAt: number;
  /** The network's time of measurement, for entries without a time; null: the receipt time. */
  networkTime: number | null;
  /**
   * True for a real call: unknown identifiers count for `suggestedFields`, and its receipt time is its devices' alone.
   */
  counted: boolean;
  /** True for a real call of the past: its receipt time stays, whatever its devices have had since. */
  kept: boolean;
  /** Masks the call's secrets in suggestions; called only when there are some. null: no secrets. */
  mask: () => TextMask | null;
  /** The device of entries that name none (native integrations), with the network's name for it; else null. */
  sender: { device: DeviceInfo | null; identifier: string } | null;
}

interface EntryJudgeDeps {
  ingestCache: IngestCache;
  suggestions: Suggestions;
  receiptTimes: ReceiptTimes;
  maxFutureMs: number;
  now: () => number;
}

/** The device of an entry, or the reason that it has none. */
interface Named {
  device: DeviceInfo | null;
  refusal: Rejection | null;
  /** The name without a device; left out: it was found, or none was given. */
  unknownName?: string;
}

/** Values to store for one device, with the outcomes of its entries. */
interface JudgedBatch extends DeviceBatch {
  entries: EntryOutcome[];
}

const MAX_SHOWN = 1_000;
/** Maximum unknown names per call: a gateway may name all of its devices. */
const MAX_UNKNOWN = 200;

/** Decides the outcome of each entry of a decoder (CONTRACT 5). Stores nothing. */
export class EntryJudge {
  readonly #deps: EntryJudgeDeps;

  constructor(deps: EntryJudgeDeps) {
    this.#deps = deps;
  }

  async judge(product: ProductInfo, raw: RawEntry[], options: JudgeOptions): Promise<Judged> {
    const { maxFutureMs, now } = this.#deps;
    const present = now();
    const { receivedAt, networkTime, counted, kept } = options;
    const devices = await this.#deps.ingestCache.devicesOfProduct(product, namesIn(raw));
    const named = raw.map((one) => deviceOf(one, options, devices));
    const isLive = counted && !kept && networkTime === null;
    const receiptTime = isLive ? this.#receiptTime(raw, named, receivedAt) : receivedAt;
    const defaultTime = networkTime ?? receiptTime;
    const bounds: TimeBounds = { door: 'decoder', latest: receivedAt + maxFutureMs };
    const clock = Math.max(receivedAt, receiptTime);
    const nothing = { stored: 0, rejected: 0, ahead: null, unknownNames: [] };
    const judged: Judged = { entries: [], batches: [], receiptTime, ...nothing };
    const unknownNames = new Set<string>();
    const batches = new Map<number, JudgedBatch>();
    for (const [at, one] of raw.entries()) {
      const { device, refusal, unknownName } = named[at] as Named;
      const found = refusal ?? noEntry(one, options) ?? checkEntry(product, one.entry, one.index, defaultTime, bounds);
      const checked = isRejection(found) ? withOtherMistakes(found, { product, entry: one.entry, bounds }) : found;
      // Judge retention by now, not by the receipt: a replay stores nothing that would be deleted at once.
      const outcome = withinRetention(device?.keeps ?? null, checked, one.index, present);
      judged.entries.push(outcomeOf(product, one, device, outcome, { bounds, now: clock }));
      if (isRejection(outcome) || device === null) {
        judged.rejected += 1;
        if (counted) this.#suggest(product, outcome as Rejection, one, options);
        if (counted && unknownName !== undefined && unknownNames.size < MAX_UNKNOWN) unknownNames.add(unknownName);
        continue;
      }
      let of = batches.get(device.key);
      if (of === undefined) {
        const batch = { deviceKey: device.key, receivedAt: receiptTime, fieldKeys: [], timestamps: [], values: [] };
        of = { device, batch, entries: [] };
        batches.set(device.key, of);
      }
      addToBatch(of.batch, outcome);
      of.entries.push(must(judged.entries.at(-1)));
      judged.stored += 1;
    }
    for (const of of batches.values()) judged.batches.push(withoutReplaced(of, judged));
    judged.ahead = aheadOfAll(judged.batches.map(({ batch }) => aheadOf(batch.timestamps, clock)));
    if (unknownNames.size > 0) {
      const mask = options.mask() ?? ((text: string) => text);
      judged.unknownNames = [...unknownNames].filter((name) => mayBeSerial(name) && mask(name) === name);
    }
    return judged;
  }

  /** Suggests the field without secrets of the call: all tokens with READ see suggestions. */
  #suggest(product: ProductInfo, refusal: Rejection, { entry, hint }: RawEntry, options: JudgeOptions): void {
    if (refusal.code !== 'UNKNOWN_FIELD') return;
    const mask = options.mask() ?? ((text: string) => text);
    const { field, value } = entry as { field: string; value?: unknown };
    if (mask(field) !== field) return;
    const told = { field, value: typeof value === 'string' ? mask(value.slice(0, MAX_SHOWN)) : value };
    const shown: SuggestionHint | null = hint && {
      name: hint.name && mask(hint.name),
      unit: hint.unit && mask(hint.unit),
    };
    this.#deps.suggestions.note(product, refusal, told, options.receivedAt, shown);
  }

  #receiptTime(raw: RawEntry[], named: Named[], receivedAt: number): number {
    const keys = new Set<number>();
    for (const [at, { entry }] of raw.entries()) {
      const device = named[at]?.device ?? null;
      if (device !== null && lacksTime(entry)) keys.add(device.key);
    }
    return this.#deps.receiptTimes.take(keys, receivedAt);
  }
}

/** Rejections before the field is looked up; null: it may be an entry. */
function noEntry({ index, entry, shown, refusal }: RawEntry, { sender }: JudgeOptions): Rejection | null {
  if (refusal !== undefined) return reject(index, (entry as { field: string }).field, refusal.code, refusal.message);
  if ('field' in (entry as object)) return null;
  const expected =
    sender === null
      ? 'an entry {device, field, value, timestamp?} or a record {device, timestamp, …} with values by their names'
      : 'an entry {field, value, timestamp?} or a record of values by their names with a time of its own (timestamp, time, ts, …)';
  return reject(index, null, 'INVALID_ENTRY', `Expected ${expected}, not ${jsonBeginning(shown, 100)}.`);
}

/** The batch without entries that later ones replace, which are rejected. */
function withoutReplaced({ device, batch, entries }: JudgedBatch, counts: Judged): DeviceBatch {
  const lastOf = lastOfEachKey(batch);
  if (lastOf === null) return { device, batch };
  const places: number[] = [];
  for (const [at, entry] of entries.entries()) {
    const last = must(lastOf[at]);
    if (last === at) {
      places.push(at);
      continue;
    }
    const { code, message } = duplicate(
      entry.index,
      entry.field,
      must(batch.timestamps[at]),
      must(entries[last]).index,
    );
    Object.assign(entry, { code, message });
    counts.stored -= 1;
    counts.rejected += 1;
  }
  return { device, batch: onlyPlaces(batch, places) };
}

/** The device of the entry, or the reason that it has none. */
function deviceOf(
  { entry, index, shown }: RawEntry,
  { sender }: JudgeOptions,
  known: ReadonlyMap<string, DeviceInfo | null>,
): Named {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
    const expected = sender === null ? '{device, field, value}' : '{field, value}';
    return refused(index, null, 'INVALID_ENTRY', `Expected an object ${expected}, not ${kindOf(entry)}.`);
  }
  const { device: given, field } = entry as Record<string, unknown>;
  const identifier = typeof field === 'string' ? field : null;
  const name = nameOf(given, (shown as Record<string, unknown>)['device']);
  if (name === '') {
    if (sender === null)
      return refused(
        index,
        identifier,
        'MISSING_DEVICE',
        'The entry has no "device"; give the serial number or id of a device of this product.',
      );
    if (sender.device !== null) return found(sender.device);
    return refused(index, identifier, 'UNKNOWN_DEVICE', unknownDevice(sender.identifier));
  }
  if (name === null)
    return refused(
      index,
      identifier,
      'UNKNOWN_DEVICE',
      `"device" must be a serial number or device id, not ${kindOf(given)}.`,
    );
  if (sender?.device && deviceIdentity(name) === deviceIdentity(sender.identifier)) return found(sender.device);
  const device = known.get(name);
  if (device === null) return refused(index, identifier, 'UNKNOWN_DEVICE', severalDevices(name));
  if (device !== undefined) return found(device);
  return { ...refused(index, identifier, 'UNKNOWN_DEVICE', unknownDevice(name)), unknownName: name };
}

/** The names of devices in the entries, without duplicates. */
function namesIn(raw: RawEntry[]): string[] {
  const names = new Set<string>();
  for (const { entry, shown } of raw) {
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) continue;
    const name = nameOf((entry as Record<string, unknown>)['device'], (shown as Record<string, unknown>)['device']);
    if (name !== null && name !== '') names.add(name);
  }
  return [...names];
}

/** `device` as text: "" when absent, null when it is no text. */
function nameOf(given: unknown, shown: unknown): string | null {
  if (given === undefined || given === null) return '';
  if (typeof given === 'string') return given;
  if (typeof given === 'number') return Number.isFinite(given) ? String(given) : null;
  return typeof given === 'bigint' && typeof shown === 'string' ? shown.slice(0, -1) : null;
}

function found(device: DeviceInfo): Named {
  return { device, refusal: null };
}

function refused(index: number, field: string | null, code: Rejection['code'], message: string): Named {
  return { device: null, refusal: reject(index, field, code, message) };
}

function outcomeOf(
  product: ProductInfo,
  { index, shown, entry, hint }: RawEntry,
  device: DeviceInfo | null,
  outcome: Accepted | Rejection,
  { bounds, now }: { bounds: TimeBounds; now: number },
): EntryOutcome {
  const written = (typeof entry === 'object' && entry !== null && !Array.isArray(entry) ? shown : {}) as Record<
    string,
    unknown
  >;
  const field = textOf(written['field']);
  const time = written['timestamp'];
  const accepted = isRejection(outcome) ? null : outcome;
  // Read the time of an entry that was rejected for another reason.
  const own = accepted !== null || time == null ? null : readTime(time, product.timeZone, bounds);
  return {
    index,
    device: textOf(written['device']),
    field,
    value: shownValue(written === shown ? written['value'] : shown),
    timestamp: accepted?.timestamp ?? (typeof own === 'number' ? own : null),
    code: isRejection(outcome) ? outcome.code : null,
    message: isRejection(outcome) ? outcome.message : null,
    matchedDeviceId: device?.id ?? null,
    matchedFieldKey: (field === null ? undefined : product.fields.get(field)?.key) ?? null,
    ...(accepted === null ? {} : noticeOf(time, accepted.timestamp, product.timeZone, now)),
    ...(isRejection(outcome) && typeof written['field'] === 'string' && !product.fields.has(written['field'])
      ? suggestionOf(product, written['field'], entry, hint)
      : {}),
  };
}

/** The field that would take the entry, as `addField` needs it. */
function suggestionOf(
  product: ProductInfo,
  field: unknown,
  entry: unknown,
  hint: RawEntry['hint'],
): Pick<EntryOutcome, 'suggestedField'> | Record<string, never> {
  const suggested = suggestedField(product, field as string, (entry as { value?: unknown }).value);
  return suggested === null
    ? {}
    : { suggestedField: { ...suggested, name: hint?.name ?? null, unit: hint?.unit ?? null } };
}

function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const text = typeof value === 'string' ? value : jsonBeginning(value, 201);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** The value for people: long ones are cut. */
function shownValue(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === 'string') return value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN)}…` : value;
  if (typeof value !== 'object' || value === null) return value;
  const text = jsonBeginning(value, MAX_SHOWN + 1);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : value;
}

/** The way the time of an accepted entry was read, when another may have been meant. */
function noticeOf(time: unknown, read: number, timeZone: string | null, now: number): Pick<EntryOutcome, 'notice'> {
  const ahead = aheadNotice(read, now);
  const zone = isZoneless(time) ? `The time names no zone: read as ${timeZone ?? 'UTC'}.` : null;
  if (ahead === null && zone === null) return {};
  return { notice: [zone, ahead].filter((said) => said !== null).join(' ') };
}

function unknownDevice(name: string): string {
  return `The product has no device with serial number or id "${name.slice(0, 64)}".`;
}

/** True when a device may have it as a serial number, see `checkSerialNumber`. */
function mayBeSerial(name: string): boolean {
  return name.length <= 100 && name.trim() === name && !/[\0\r\n]/.test(name) && name.isWellFormed();
}

function severalDevices(name: string): string {
  return `Several devices of the product have the serial number "${name.slice(0, 64)}"; rename all but one.`;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  return Array.isArray(value) ? 'an array' : `a${/^[aeiou]/.test(typeof value) ? 'n' : ''} ${typeof value}`;
}
