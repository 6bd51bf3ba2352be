import { asAppError, type ErrorCode, unauthenticated } from '../../errors.ts';
import { runAs } from '../../scheduling/current-caller.ts';
import { Slices } from '../../scheduling/yield-to-event-loop.ts';
import type { Access } from '../access/access.ts';
import type { Authenticator } from '../accounts/authenticator.ts';
import type { DeviceFinder } from '../ingest-cache/device-finder.ts';
import type { DeviceInfo } from '../ingest-cache/ingest-cache.ts';
import { deviceOfLine, type DeviceTags } from '../lines/device-tags.ts';
import { entryOf, type LineEntry, type Precision, secondsOf } from '../lines/line-entries.ts';
import { type Line, LineReader } from '../lines/line-protocol.ts';
import { MOST_ENTRIES } from '../measurements/record-body.ts';
import type { Recorder } from '../measurements/recorder.ts';

interface LineReceiverDeps {
  authenticator: Pick<Authenticator, 'present'>;
  devices: DeviceFinder;
  recorder: Recorder;
  deviceTags: DeviceTags;
}

/** A body of line protocol, and how to read it. */
interface LineBody {
  text: string;
  precision: Precision;
  /** In ms UTC. */
  receivedAt: number;
}

/** What became of a body: values and lines; a line is refused when any of its values is. */
export interface LinesOutcome {
  stored: number;
  refusedValues: number;
  refusedLines: number;
  /** The first refused line and its reason. */
  first: { line: number; reason: string } | null;
}

/** A line, and its time in Unix seconds. */
interface TimedLine {
  line: Line;
  by: readonly string[];
  timestamp: number | undefined;
}

/** Errors of one device, which lose nothing of the others. */
const OF_ONE_DEVICE: readonly ErrorCode[] = ['NOT_FOUND', 'FORBIDDEN', 'AMBIGUOUS_DEVICE'];

/** Records bodies of InfluxDB's line protocol: each line for the device that its tags name. */
export class LineReceiver {
  readonly #deps: LineReceiverDeps;

  constructor(deps: LineReceiverDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves after the commit. Rejects with OVERLOADED or UNAVAILABLE when anything of it could not be stored for now,
   * UNAUTHENTICATED when the token is gone: the body is to be sent again.
   */
  async receive(access: Access, body: LineBody): Promise<LinesOutcome> {
    const refusals = new Refusals();
    let byDevice = new Map<string | null, TimedLine[]>();
    let [entries, stored] = [0, 0];
    const record = async (): Promise<void> => {
      const present = byDevice;
      [byDevice, entries] = [new Map(), 0];
      for (const [name, lines] of present) stored += await this.#record(access, name, { lines, body, refusals });
    };
    const slices = new Slices();
    for (const line of new LineReader(body.text).lines()) {
      if (slices.isOver) await slices.next();
      if (line === null) continue;
      if ('fault' in line) {
        refusals.add(line.number, 1, line.fault);
        continue;
      }
      const timestamp = line.time === null ? undefined : secondsOf(line.time, body.precision);
      if (typeof timestamp === 'object') {
        refusals.add(line.number, line.fields.length, timestamp.fault);
        continue;
      }
      if (entries > 0 && entries + line.fields.length > MOST_ENTRIES) await record();
      entries += line.fields.length;
      const device = deviceOfLine(line, this.#deps.deviceTags);
      const timed = { line, by: device?.by ?? [], timestamp };
      const name = device?.name ?? null;
      const before = byDevice.get(name);
      if (before === undefined) byDevice.set(name, [timed]);
      else before.push(timed);
    }
    await record();
    return { stored, ...refusals.outcome };
  }

  async #record(
    access: Access,
    name: string | null,
    { lines, body: { receivedAt }, refusals }: { lines: readonly TimedLine[]; body: LineBody; refusals: Refusals },
  ): Promise<number> {
    const named = name ?? ownDevice(access);
    if (named === null) {
      const tags = this.#deps.deviceTags.map((choice) => choice.join('+')).join(' or ');
      for (const { line } of lines)
        refusals.add(line.number, line.fields.length, `no tag names the device: expected ${tags} (LINE_DEVICE_TAGS)`);
      return 0;
    }
    const find = async (): Promise<DeviceInfo> => {
      const present = await this.#deps.authenticator.present(access);
      if (present === null) throw unauthenticated();
      return runAs(present, () => this.#deps.devices.forRecording(present, named));
    };
    try {
      const device = await find();
      const { fields } = device.product;
      const has = (identifier: string): boolean => fields.has(identifier);
      const entries: LineEntry[] = [];
      const lineOf: number[] = [];
      const slices = new Slices();
      for (const { line, by, timestamp } of lines)
        for (const field of line.fields) {
          entries.push(entryOf(line, field, { by, has, timestamp }));
          lineOf.push(line.number);
          if (slices.isOver) await slices.next();
        }
      const outcome = await this.#deps.recorder.record(device, entries, { limited: false, receivedAt, recheck: find });
      let lastOf: ReadonlyMap<string, LineEntry> | null = null;
      for (const { index, field, code, message } of outcome.rejected) {
        const entry = entries[index];
        if (code === 'DUPLICATE_IN_REQUEST' && entry !== undefined) {
          lastOf ??= new Map(entries.map((each) => [keyOf(each), each]));
          // Radios hear a message several times: nothing is lost of the same value.
          if (lastOf.get(keyOf(entry))?.value === entry.value) continue;
        }
        refusals.add(lineOf[index] ?? 0, 1, `${field ?? 'a field'}: ${code} ${message}`);
      }
      return outcome.stored;
    } catch (error) {
      const refusal = asAppError(error);
      if (refusal === null || !OF_ONE_DEVICE.includes(refusal.code)) throw error;
      for (const { line } of lines) refusals.add(line.number, line.fields.length, refusal.message);
      return 0;
    }
  }
}

function keyOf({ field, timestamp }: LineEntry): string {
  return `${timestamp ?? ''} ${field}`;
}

/** The device of a token that is limited to one; null: it is not. */
function ownDevice({ deviceIds, productIds }: Access): string | null {
  const [own, ...others] = deviceIds ?? [];
  return own !== undefined && others.length === 0 && productIds === null ? own : null;
}

/** Counts what is refused, and keeps the first of it. */
class Refusals {
  readonly #lines = new Set<number>();
  #values = 0;
  #first: LinesOutcome['first'] = null;

  add(line: number, values: number, reason: string): void {
    this.#lines.add(line);
    this.#values += values;
    if (this.#first === null || line < this.#first.line) this.#first = { line, reason };
  }

  get outcome(): Omit<LinesOutcome, 'stored'> {
    return { refusedValues: this.#values, refusedLines: this.#lines.size, first: this.#first };
  }
}
