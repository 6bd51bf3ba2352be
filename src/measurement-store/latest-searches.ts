import { Lane } from '../scheduling/lane.ts';
import { LANES } from '../scheduling/lanes.ts';
import { EventLoopQueue } from '../scheduling/event-loop-queue.ts';
import type { LatestQuery, LatestRow } from '../domain/ports/store.ts';
import { currentCaller } from '../scheduling/current-caller.ts';
import { AppError } from '../errors.ts';
import { latestRows } from './chunks/latest-columns.ts';
import type { SearchProgress } from './chunks/search-memory.ts';
import { DEVICES_AT_ONCE, type LatestAnswer } from './chunks/reader-job.ts';
import { must } from '../must.ts';

/** Maximum milliseconds per search, all slices together. */
const SEARCH_MS = 20_000;
/** Maximum wait for the next slice, however many others there are. */
const LONGEST_MS = 60_000;

/** Asks a reader thread; `progress`: of the slice before it. */
type AskLatest = (queries: LatestQuery[], progress?: SearchProgress) => Promise<LatestAnswer>;

/**
 * Newest values from reader threads. A long search goes slice by slice, each a job of its own: of first slices a few at
 * a time, fairly, from the second on one, tenants in turns. So little is ahead of short ones.
 */
export class LatestSearches {
  readonly #ask: AskLatest;
  readonly #searchMs: number;
  readonly #longestMs: number;
  // They wait for nothing but their thread: one that hangs refuses them.
  readonly #first = new Lane(LANES.shortSearches);
  readonly #others = new EventLoopQueue(LANES.longSearches);

  constructor(ask: AskLatest, searchMs = SEARCH_MS, longestMs = LONGEST_MS) {
    this.#ask = ask;
    this.#searchMs = searchMs;
    this.#longestMs = longestMs;
  }

  /** OVERLOADED when it takes too long: asked again, it goes on. `spend` gets each slice's ms; its error is thrown. */
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
      // Few queries go to the thread for short jobs: always the same, which remembers its progress.
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
  return places.map((at) => must(queries[at]));
}

function tooMuch(devices: number): AppError {
  return new AppError(
    'OVERLOADED',
    `Newest values of ${devices === 1 ? 'a device' : `${devices} devices`} were not found in time among the readings that have just been recorded. ` +
      'Try again in a moment: the search goes on where it was. Or ask only for fields that were sent lately.',
  );
}
