import { AppError } from '../../errors.ts';
import { RoundRobinQueue } from '../../scheduling/round-robin-queue.ts';
import type { ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { pause } from '../../scheduling/pause.ts';
import { Tally } from '../../scheduling/tally.ts';
import type { LongReadings } from './long-readings.ts';
import { FailFast } from './fail-fast.ts';
import { type Batch, type MeasurementStore, PART_BYTES, type Receipt } from '../ports/store.ts';
import type { WriteShares } from '../../scheduling/write-shares.ts';

/** A text has 4,096 characters at most, in UTF-8 so many bytes. */
const TEXT_BYTES = 12_288;
/** What costs so much goes on one after the other, with a rest behind each: SQLite writes it again when it has acknowledged it. */
const MUCH_BYTES = 1_048_576;
const REST_MS = 50;
/** Of a tenant: they are in memory meanwhile. */
const MOST_IN_LINE = 20;
/** What writes so little again stands in no line: the turns of its tenant bound it, and it shares a flush with others. */
const LITTLE_BYTES = 65_536;
/** What may be written again for the requests of a tenant that are under way together before the database is asked. */
const MOST_UNASKED_BYTES = 16 * 1_048_576;
/** What one request may have written again: some ten seconds beside others. */
const MOST_BYTES = 64 * 1_048_576;

/** What is committed together, how many values it has, and the bytes that are written again for it. */
export interface Part {
  receipt: Receipt;
  values: number;
  bytes: number;
}

interface ReceiptPartsDeps {
  store: Pick<MeasurementStore, 'longMoments'>;
  shares: WriteShares;
  longReadings: LongReadings;
}

/**
 * Receipts that cost the database very much are committed in parts. A value that comes into a moment writes all of it
 * again, and a moment may have megabytes: a thousand values could take gigabytes, in one flush, behind which everybody
 * waits. So the database is asked before where that can be. The call comes with the last part: until then nothing is
 * acknowledged, and who sends again writes the same.
 */
export class ReceiptParts {
  readonly #deps: ReceiptPartsDeps;
  /** Parts behind the one under way, each its tenant's; tenants take turns. */
  readonly #line = new RoundRobinQueue<() => void>();
  #isBusy = false;
  readonly #lostTime = new FailFast();
  /** What is written again for what is under way of each tenant, in bytes, as far as that is known … */
  readonly #knownUnderWay = new Tally();
  /** … and what may be, where nobody has asked. */
  readonly #possibleUnderWay = new Tally();
  /** How many of each tenant are in that line. */
  readonly #inLineOf = new Tally();

  constructor(deps: ReceiptPartsDeps) {
    this.#deps = deps;
  }

  /** Whether very much may be written again for them; `texts`: how many fields of their devices are texts. */
  isDoubtful(tenant: string, batches: readonly Batch[], texts: number): boolean {
    const underWay = this.#knownUnderWay.of(tenant);
    const known = this.#known(batches);
    if (known > 0 && known + underWay > MUCH_BYTES) return true;
    if (texts === 0) return false;
    const left = MOST_UNASKED_BYTES - underWay - this.#possibleUnderWay.of(tenant);
    return this.#possible(batches, texts) > Math.min(PART_BYTES, left);
  }

  /** Stores what is not doubtful: until it is stored it counts for what else of the tenant comes. */
  unasked(tenant: string, batches: readonly Batch[], texts: number, store: () => Promise<number>): Promise<number> {
    const known = this.#known(batches);
    if (known > 0) return counted(this.#knownUnderWay, tenant, known, store);
    const possible = this.#possible(batches, texts);
    return possible === 0 ? store() : counted(this.#possibleUnderWay, tenant, possible, store);
  }

  /** If all of their moments were there and as long as they can be. */
  #possible(batches: readonly Batch[], texts: number): number {
    if (texts === 0) return 0;
    let moments = 0;
    for (const { timestamps } of batches) moments += timestamps.length > 1 ? new Set(timestamps).size : 1;
    return moments * texts * TEXT_BYTES;
  }

  #known(batches: readonly Batch[]): number {
    let known = 0;
    for (const batch of batches) known += this.#deps.longReadings.mostBytesFor(batch);
    // Whole bytes: what is taken away again leaves nothing.
    return Math.ceil(known);
  }

  /** The receipt of somebody who waits for it, in parts. Throws OVERLOADED when it is too much for one. */
  async ofRequest(tenant: string, receipt: Receipt, texts: number): Promise<Part[]> {
    const parts = await this.of(tenant, receipt, texts);
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
    if (bytes > MOST_BYTES)
      throw new AppError(
        'OVERLOADED',
        `The readings at the timestamps of these values hold ${Math.ceil(bytes / 1_048_576)} MB; one request may rewrite at most ` +
          `${MOST_BYTES / 1_048_576} MB: send fewer entries at once.`,
      );
    return parts;
  }

  /**
   * The receipt in parts, of not much more than so many values each; those that a batch has of a moment are in one, and all
   * of a long moment unless they are more. They stay in their order.
   */
  async of(tenant: string, receipt: Receipt, texts: number, mostValues = Infinity): Promise<Part[]> {
    const bytes = new Map<string, number>();
    if (this.isDoubtful(tenant, receipt.batches, texts)) {
      const moments = receipt.batches.map(({ deviceKey, timestamps }) => ({
        deviceKey,
        timestamps: [...new Set(timestamps)],
      }));
      for (const [deviceKey, timestamp, length] of await this.#deps.store.longMoments(moments))
        bytes.set(`${deviceKey} ${timestamp}`, length);
    }
    return cut(receipt, bytes, mostValues);
  }

  /** Stores a part, and pays for it, when it is the tenant's turn to have so much written. */
  async inTurn(tenant: string, { values, bytes }: Omit<Part, 'receipt'>, store: () => Promise<number>): Promise<void> {
    const asked = { values, rewritten: bytes };
    await this.#deps.shares.turn(tenant, asked);
    const stored = (): Promise<number> => {
      const isMuch = bytes > LITTLE_BYTES && bytes + this.#knownUnderWay.of(tenant) > MUCH_BYTES;
      const work = (): Promise<number> => counted(this.#knownUnderWay, tenant, bytes, store);
      return isMuch ? this.#inLine(tenant, bytes, work) : work();
    };
    await this.#deps.shares.storing(tenant, { asked, amount: () => asked, store: stored });
  }

  async #inLine<T>(tenant: string, bytes: number, store: () => Promise<T>): Promise<T> {
    if (this.#inLineOf.of(tenant) >= MOST_IN_LINE)
      throw new AppError(
        'OVERLOADED',
        'Too many writes of this workspace into large readings (many or long values with one timestamp) are waiting: send the rest more slowly.',
        {
          details: { retryAfterSeconds: 2 },
        },
      );
    this.#inLineOf.add(tenant, 1);
    const since = performance.now();
    if (this.#isBusy) await new Promise<void>((begin) => this.#line.add({ tenant, tokenId: tenant }, begin));
    this.#isBusy = true;
    try {
      // What nobody waits for is tried again.
      return await this.#lostTime.after(since, 'The database did not answer in time: send the rest again.', store);
    } finally {
      this.#inLineOf.add(tenant, -1);
      void pause(REST_MS * Math.min(1, bytes / MUCH_BYTES)).then(() => this.#goOn());
    }
  }

  #goOn(): void {
    const begin = this.#line.take();
    if (begin === undefined) this.#isBusy = false;
    else begin();
  }
}

async function counted<T>(tally: Tally, tenant: string, bytes: number, store: () => Promise<T>): Promise<T> {
  tally.add(tenant, bytes);
  try {
    return await store();
  } finally {
    tally.add(tenant, -bytes);
  }
}

function cut({ batches, call }: Receipt, bytes: ReadonlyMap<string, number>, mostValues: number): Part[] {
  const parts: Part[] = [];
  const begin = (): Part => {
    const begun = { receipt: { batches: [] }, values: 0, bytes: 0 };
    parts.push(begun);
    return begun;
  };
  let part = begin();
  // What comes into no long moment comes last: of a request that is refused amid it, and sent again, nothing is there twice
  // under two receipt times.
  const passes = bytes.size > 0 ? [true, false] : [false];
  /** Of each long moment: what comes into it is written at once, unless it is more than a part is to have. */
  const longIn = new Map<string, Part>();
  for (const [isLong, batch] of passes.flatMap((long) => batches.map((one) => [long, one] as const))) {
    const pieces = new Map<Part, Batch>();
    const partOf = new Map<number, Part>();
    for (const [at, timestamp] of batch.timestamps.entries()) {
      const moment = `${batch.deviceKey} ${timestamp}`;
      if (bytes.has(moment) !== isLong) continue;
      const begun = longIn.get(moment);
      let own = partOf.get(timestamp) ?? (begun && begun.values < mostValues ? begun : undefined);
      if (own === undefined) {
        if (part.bytes >= PART_BYTES || part.values >= mostValues) part = begin();
        own = part;
        own.bytes += bytes.get(moment) ?? 0;
        if (isLong) longIn.set(moment, own);
      }
      partOf.set(timestamp, own);
      own.values += 1;
      let piece = pieces.get(own);
      if (piece === undefined) {
        piece = { ...batch, fieldKeys: [], timestamps: [], values: [] };
        pieces.set(own, piece);
        own.receipt.batches.push(piece);
      }
      piece.fieldKeys.push(batch.fieldKeys[at]!);
      piece.timestamps.push(timestamp);
      piece.values.push(batch.values[at]!);
    }
  }
  if (call !== undefined) parts.at(-1)!.receipt.call = call;
  return parts;
}

const texts = new WeakMap<ProductInfo, number>();

/** How many fields of the product are texts. */
export function textsOf(product: ProductInfo): number {
  let count = texts.get(product);
  if (count === undefined) {
    count = 0;
    for (const { type } of product.fieldsByKey.values()) if (type === 'STRING') count += 1;
    texts.set(product, count);
  }
  return count;
}
