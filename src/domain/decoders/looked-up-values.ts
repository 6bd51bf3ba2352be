import { MAX_LOOKED_UP_BYTES } from './decoder-engine.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import { LANES } from '../../scheduling/lanes.ts';
import { PenaltyBucket } from '../../scheduling/penalty-bucket.ts';
import type { History, MeasuredValue } from '../history/history.ts';
import { deviceConfiguration } from '../ingest-cache/device-configuration.ts';
import { aliasesIn } from '../ingest-cache/aliased-fields.ts';
import type { DeviceInfo, IngestCache, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import type { ActiveTenants } from '../../scheduling/active-tenants.ts';
import { runAs } from '../../scheduling/current-caller.ts';
import { must } from '../../must.ts';

/** Estimated maximum characters read in one piece, and the actual maximum. */
const PIECE = 65_536;
const LONG_PIECE = 4 * PIECE;
/** Maximum devices per piece, so that reading stops near the maximum of a run. */
const AT_ONCE = 32;
/** Estimated characters of a number with its time and field. */
const VALUE = 40;
/**
 * Estimated characters of a text, and the maximum per piece: texts are read whole, so devices with many are read one by
 * one.
 */
const TEXT = 4_096;
const TEXTS_AT_ONCE = 16 * PIECE;
/** Estimated price of finding a device, or that there is none, in characters. */
const DEVICE = 1_000;
/** Maximum characters that are read without yielding first. */
const LITTLE = 8_192;
const CHARACTERS_PER_MS = 32_768;
/** Price of a ms of search on other threads. */
const SEARCH_COUNTS = 0.25;
const UNKNOWN = '{"value":null,"timestamp":null}';

/** The text of a device for `DecoderJob.lookUp`. */
type Told = readonly [name: string, text: string | null];

interface LookedUpValuesDeps {
  ingestCache: IngestCache;
  history: History;
  senders: ActiveTenants;
}

/**
 * The product's devices as decoders see them (CONTRACT 5), read in pieces, one begun per turn of the event loop and
 * charged to the workspace: a call of two bytes can ask for megabytes.
 */
export class LookedUpValues {
  readonly #deps: LookedUpValuesDeps;
  readonly #penalties: PenaltyBucket;

  constructor(deps: LookedUpValuesDeps) {
    this.#deps = deps;
    this.#penalties = new PenaltyBucket(deps.senders, LANES.lookUps);
  }

  /**
   * JSON text of the `DeviceValues` of each device with these ids or serial numbers; null: the product has none.
   * `source`: the queue to wait in.
   */
  async *of(product: ProductInfo, names: readonly string[], source: string): AsyncGenerator<Told> {
    const { workspaceId: tenant, fields } = product;
    const texts = [...fields.values()].filter(({ type }) => type === 'STRING').length * TEXT;
    for (let at = 0, each = DEVICE + fields.size * VALUE; at < names.length;) {
      const most = Math.min(AT_ONCE, PIECE / each, TEXTS_AT_ONCE / texts);
      const some = names.slice(at, at + Math.max(1, Math.floor(most)));
      const ms = (some.length * each) / CHARACTERS_PER_MS;
      const read = async (): Promise<Told[]> => {
        if (some.length * each > LITTLE) await yieldToEventLoop({ tokenId: source, tenant });
        return runAs({ tokenId: source, tenant }, () => this.#read(product, some, source));
      };
      const piece = { tenant, source, ms, isContinuation: at > 0 };
      const told = await this.#penalties.run(piece, read, (found) => sizeOf(found) / CHARACTERS_PER_MS);
      yield* told;
      at += told.length;
      each = Math.max(each, sizeOf(told) / told.length);
    }
  }

  /** Reads the first devices; the others wait for another piece when these have long texts. */
  async #read(product: ProductInfo, names: string[], source: string): Promise<Told[]> {
    const { ingestCache, history } = this.#deps;
    const devices = await ingestCache.devicesOfProduct(product, names);
    const wanted = names.flatMap((name) => devices.get(name) ?? []).map((device) => ({ device }));
    const work = { tenant: product.workspaceId, source };
    const spend = (ms: number): void => this.#penalties.charge(work, ms * SEARCH_COUNTS);
    const values = (await history.latestOfMany(wanted, spend)).values();
    const told: Told[] = [];
    for (let size = 0; told.length < names.length && size < LONG_PIECE;) {
      const name = must(names[told.length]);
      const device = devices.get(name);
      const latest = device == null ? [] : must(values.next().value);
      if (latest instanceof Error) throw latest;
      const text = device == null ? null : await valuesText(product, device, latest);
      told.push([name, text]);
      size += text?.length ?? 0;
    }
    return told;
  }
}

/**
 * The JSON text of `DeviceValues`, built without the objects and up to the maximum of a run; a control character takes
 * six, so one device may have twelve megabytes.
 */
async function valuesText(
  { id: tokenId, workspaceId: tenant, fields }: ProductInfo,
  device: DeviceInfo,
  latest: readonly MeasuredValue[],
): Promise<string> {
  const known = new Map(latest.map((one) => [one.field.key, one]));
  let [text, next] = ['', LONG_PIECE];
  // A decoder may go on reading a field under its earlier identifier.
  for (const [identifier, { key }] of [...fields, ...aliasesIn(fields)]) {
    const one = known.get(key);
    const told =
      one === undefined ? UNKNOWN : `{"value":${JSON.stringify(one.value)},"timestamp":${one.timestamp / 1000}}`;
    text += `${text === '' ? '' : ','}${JSON.stringify(identifier)}:${told}`;
    if (text.length < next) continue;
    if (text.length > MAX_LOOKED_UP_BYTES) break;
    next = text.length + LONG_PIECE;
    await yieldToEventLoop({ tokenId, tenant });
  }
  return `{"measurements":{${text}},"configuration":${JSON.stringify(deviceConfiguration(device))}}`;
}

function sizeOf(told: readonly Told[]): number {
  return told.reduce((size, [, text]) => size + DEVICE + (text?.length ?? 0), 0);
}
