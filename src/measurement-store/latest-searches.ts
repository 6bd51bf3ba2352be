import { FairSemaphore } from '../scheduling/fair-semaphore.ts';
import { EventLoopQueue } from '../scheduling/event-loop-queue.ts';
import type { LatestQuery, LatestRow } from '../domain/ports/store.ts';
import { currentCaller } from '../scheduling/current-caller.ts';
import { AppError } from '../errors.ts';
import { latestRows } from './chunks/latest-columns.ts';
import type { SearchProgress } from './chunks/search-memory.ts';
import { DEVICES_AT_ONCE, type LatestAnswer } from './chunks/reader-job.ts';

/** What all slices of one take together: some million readings. */
const SEARCH_MS = 20_000;
/** However many others there are, nobody waits longer for the next of his slices. */
const LONGEST_MS = 60_000;
/** A thread has room for more than these and one more slice: what is short does not wait for their end. */
const FIRST_AT_ONCE = 6;

/** Asks a reader thread; `progress`: of the slice before it. */
type AskLatest = (queries: LatestQuery[], progress?: SearchProgress) => Promise<LatestAnswer>;

/**
 * Newest values from reader threads. Who has much to be searched gets it slice by slice, each a job of its own: of the
 * first ones a few at a time, fairly, from the second on one, tenants in turns. So little is in front of what is short.
 */
export class LatestSearches {
  readonly #ask: AskLatest;
  readonly #searchMs: number;
  readonly #longestMs: number;
  // They wait for nothing but their thread: one that hangs refuses them.
  readonly #first = new FairSemaphore(FIRST_AT_ONCE);
  readonly #others = new EventLoopQueue();

  constructor(ask: AskLatest, searchMs = SEARCH_MS, longestMs = LONGEST_MS) {
    this.#ask = ask;
    this.#searchMs = searchMs;
    this.#longestMs = longestMs;
  }

  /**
   * OVERLOADED when it takes too long: asked again, it goes on where it was. `spend` is told, slice by slice, how long
   * was searched, in ms; what it throws is thrown.
   */
  async latest(queries: LatestQuery[], spend: (ms: number) => void = () => {}): Promise<LatestRow[]> {
    const endsAt = performance.now() + this.#longestMs;
    let leftMs = this.#searchMs;
    const ask: AskLatest = async (...asked) => {
      const answer = await this.#ask(...asked);
      leftMs -= answer.searchedMs;
      spend(answer.searchedMs);
      return answer;
    };
    const isShort = queries.length <= DEVICES_AT_ONCE;
    const first = (): Promise<LatestAnswer> => ask(queries);
    let { found, left, progress } = await (isShort ? this.#first.use(currentCaller(), first) : first());
    const rows = latestRows(found);
    for (let open = chosen(queries, left); open.length > 0;) {
      if (leftMs <= 0 || performance.now() >= endsAt) throw tooMuch(open.length);
      // So few go to the thread that is there for what is short: always the same, which remembers how far it came.
      const some = open.slice(0, DEVICES_AT_ONCE);
      const before = progress;
      ({ found, left, progress } = await this.#others.run(() => ask(some, before)));
      rows.push(...latestRows(found));
      open = [...chosen(some, left), ...open.slice(DEVICES_AT_ONCE)];
    }
    return rows;
  }
}

function chosen(queries: LatestQuery[], places: number[]): LatestQuery[] {
  return places.map((at) => queries[at]!);
}

function tooMuch(devices: number): AppError {
  return new AppError(
    'OVERLOADED',
    `Newest values of ${devices === 1 ? 'a device' : `${devices} devices`} were not found in time among the readings that have just been recorded. ` +
      'Try again in a moment: the search goes on where it was. Or ask only for fields that were sent lately.',
  );
}
