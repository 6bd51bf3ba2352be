import type { LatestQuery, LatestRow } from '../domain/measurements/store.ts';
import { AppError } from '../errors.ts';
import { latestRows } from './chunks/latest-columns.ts';
import type { SearchProgress } from './chunks/search-memory.ts';
import { DEVICES_AT_ONCE, type LatestAnswer } from './chunks/reader-job.ts';

/** Some million readings; less than a query of GraphQL may take. */
const SEARCH_MS = 20_000;

/** Asks a reader thread; `progress`: of the slice before it. */
type AskLatest = (queries: LatestQuery[], progress?: SearchProgress) => Promise<LatestAnswer>;

/**
 * Newest values from reader threads. Who has much to be searched gets it slice by slice, each a job of its own; from the
 * second on in turns with others who have, so that at most one such slice is in front of what is short.
 */
export class LatestSearches {
  readonly #ask: AskLatest;
  readonly #searchMs: number;
  #last: Promise<unknown> = Promise.resolve();

  constructor(ask: AskLatest, searchMs: number = SEARCH_MS) {
    this.#ask = ask;
    this.#searchMs = searchMs;
  }

  /** OVERLOADED when it takes too long: asked again, it goes on where it was. */
  async latest(queries: LatestQuery[]): Promise<LatestRow[]> {
    const endsAt = performance.now() + this.#searchMs;
    let { found, left, progress } = await this.#ask(queries);
    const rows = latestRows(found);
    for (let open = chosen(queries, left); open.length > 0;) {
      if (performance.now() >= endsAt) throw tooMuch(open.length);
      // So few go to the thread that is there for what is short: always the same, which remembers how far it came.
      const some = open.slice(0, DEVICES_AT_ONCE);
      const before = progress;
      ({ found, left, progress } = await this.#inTurn(() => this.#ask(some, before)));
      rows.push(...latestRows(found));
      open = [...chosen(some, left), ...open.slice(DEVICES_AT_ONCE)];
    }
    return rows;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#last.then(work, work);
    this.#last = mine;
    return mine;
  }
}

function chosen(queries: LatestQuery[], places: number[]): LatestQuery[] {
  return places.map((at) => queries[at]!);
}

function tooMuch(devices: number): AppError {
  return new AppError(
    'OVERLOADED',
    `Newest values of ${devices === 1 ? 'a device' : `${devices} devices`} were not found in time among very many readings that have just been recorded. ` +
      'Try again in a moment: the search goes on where it was. Or ask only for fields that were sent lately.',
  );
}
