import { type RecordedPage, type RecordedQuery, type RecordedReading, storedAtOf } from '../../domain/ports/store.ts';
import { readingOf } from '../chunks/reader-job.ts';
import { eachFrame } from '../readings/reading-frames.ts';

/** Maximum bytes of flushes in memory: some seconds of full load. */
const MOST_BYTES = 4 * 1024 * 1024;
/** Maximum bytes of a flush in memory: a longer one is read page by page from the database. */
const MOST_OF_ONE = 256 * 1024;
/** Maximum bytes that are gone through for some devices alone: the database finds theirs, in a thread of its own. */
const MOST_FOR_SOME = 256 * 1024;

/** A commit of readings (`reading-frames.ts`) by its number, which also is its place in the order of commits. */
interface CommittedFlush {
  seq: number;
  /** In ms UTC. */
  storedAt: number;
  frames: Buffer;
}

/**
 * The flushes that were committed last, for those who follow the order of commits: they are told from memory what this
 * process has just written, instead of reading each of it back.
 */
export class RecentFlushes {
  #flushes: CommittedFlush[] = [];
  #bytes = 0;
  /** What was committed after it, and up to the last of them, is in here; null: nothing is. */
  #after: number | null = null;
  #last = 0;
  /** The number of the next commit, unless one comes in between that is none of a flush. */
  #next = 0;

  /** A flush is durable. Copies its bytes. */
  add({ seq, storedAt, frames }: CommittedFlush): void {
    if (this.#after === null || seq !== this.#next) this.#begin(seq - 1);
    this.#next = seq + 1;
    // The number of a commit of calls alone is in no table: after a restart it is another one's.
    if (frames.length === 0) return;
    this.#last = seq;
    if (frames.length > MOST_OF_ONE) return this.#begin(seq);
    this.#flushes.push({ seq, storedAt, frames: Buffer.from(frames) });
    this.#bytes += frames.length;
    if (this.#bytes > MOST_BYTES) this.#dropOlderHalf();
  }

  /** Forgets all of them before and after work by which readings are deleted or written otherwise. */
  async without<T>(work: () => Promise<T>): Promise<T> {
    this.#begin(null);
    try {
      return await work();
    } finally {
      this.#begin(null);
    }
  }

  /** The page that the query asks for, whole flushes; null: it must be read from the database. */
  recorded({ after, upTo, place, deviceKeys, limit }: RecordedQuery): RecordedPage | null {
    const from = Number(after);
    const isHere = this.#after !== null && String(from) === after && from >= this.#after && from <= this.#last;
    if (!isHere || upTo !== null || place !== null) return null;
    const wanted = deviceKeys && new Set(deviceKeys);
    const readings: RecordedReading[] = [];
    let at = this.#flushes.findLastIndex(({ seq }) => seq <= from) + 1;
    if (wanted !== null && bytesFrom(this.#flushes, at) > MOST_FOR_SOME) return null;
    let reached = from;
    for (; at < this.#flushes.length && readings.length < limit; at += 1) {
      const flush = this.#flushes[at]!;
      const ofFlush = readingsOf(flush, wanted);
      // A page that is longer than what was asked for is cut by the database.
      if (ofFlush.length > limit && readings.length === 0) return null;
      if (readings.length + ofFlush.length > limit) break;
      readings.push(...ofFlush);
      reached = flush.seq;
    }
    return { expired: false, upTo: String(reached), readings, complete: true, more: at < this.#flushes.length };
  }

  #begin(after: number | null): void {
    this.#flushes = [];
    this.#bytes = 0;
    this.#after = after;
  }

  #dropOlderHalf(): void {
    const dropped = this.#flushes.splice(0, Math.ceil(this.#flushes.length / 2));
    for (const { frames } of dropped) this.#bytes -= frames.length;
    this.#after = dropped.at(-1)!.seq;
  }
}

function bytesFrom(flushes: readonly CommittedFlush[], first: number): number {
  let bytes = 0;
  for (let at = first; at < flushes.length && bytes <= MOST_FOR_SOME; at += 1) bytes += flushes[at]!.frames.length;
  return bytes;
}

/** The live readings of a flush, in the order in which the database has them. */
function readingsOf({ seq, storedAt, frames }: CommittedFlush, wanted: ReadonlySet<number> | null): RecordedReading[] {
  const readings: RecordedReading[] = [];
  let batchStoredAt = storedAt;
  eachFrame(
    frames,
    (_deviceKey, receivedAt) => {
      batchStoredAt = storedAtOf(receivedAt, storedAt);
    },
    (deviceKey, timestamp, start, end) => {
      if (batchStoredAt <= 0 || wanted?.has(deviceKey) === false) return;
      const values = frames.subarray(start, end);
      readings.push(readingOf({ seq: String(seq), deviceKey, timestamp, storedAt: batchStoredAt, values }));
    },
  );
  return readings.sort((one, other) => one.deviceKey - other.deviceKey || one.timestamp - other.timestamp);
}
