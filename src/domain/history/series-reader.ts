import { AppError } from '../../errors.ts';
import { Lane } from '../../scheduling/lane.ts';
import { LANES } from '../../scheduling/lanes.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import type { SeriesAnswer, SeriesRequest, SeriesView, ViewAnswer } from '../ports/series-request.ts';
import type { Caller } from '../../scheduling/caller.ts';
import { SharedTime } from '../../scheduling/shared-time.ts';
import type { MeasurementStore, Place } from '../ports/store.ts';
import { must } from '../../must.ts';

/** Maximum requests per call of the store. */
const REQUESTS_AT_ONCE = 50;

/** A request with a single view. */
export type ViewRequest = Omit<SeriesRequest, 'views'> & { view: SeriesView };

/** Answer to one view. */
export interface ViewResult {
  before: SeriesAnswer['before'];
  answer: ViewAnswer;
}

/** The operation that the views belong to. */
interface Operation {
  readonly caller: Caller;
  /** Adds work of other threads, in milliseconds. */
  worked(milliseconds: number): void;
  /** Throws the error that ended it, which also ends its views. */
  check(): void;
}

/** Requests of operations that were not asked yet. */
class Gathered extends Map<Operation, Map<string, Waiting>> {}

interface Waiting {
  request: SeriesRequest;
  answered: ((answer: SeriesAnswer) => void)[];
  failed: ((error: unknown) => void)[];
}

/**
 * Reads views from the store. Views of one operation with the same field and range, such as the aliases MIN, MAX and
 * AVG of one chart, become one request: its values are read and decoded once.
 */
export class SeriesReader {
  readonly #store: Pick<MeasurementStore, 'series'>;
  readonly #slots = new Lane(LANES.charts);
  readonly #time = new SharedTime();
  readonly #gathered = { primary: new Gathered(), any: new Gathered() };

  constructor(store: Pick<MeasurementStore, 'series'>) {
    this.#store = store;
  }

  /** Reads the views in order, combining them within the `operation` and `place` only. */
  read(requests: readonly ViewRequest[], operation: Operation, place: Place = 'primary'): Promise<ViewResult[]> {
    return Promise.all(requests.map((request) => this.#readOne(request, operation, place)));
  }

  #readOne({ view, ...range }: ViewRequest, operation: Operation, place: Place): Promise<ViewResult> {
    const waiting = this.#gather(operation, place);
    const key = JSON.stringify(range);
    let entry = waiting.get(key);
    if (entry === undefined) waiting.set(key, (entry = { request: { ...range, views: [] }, answered: [], failed: [] }));
    const { request, answered, failed } = entry;
    const index = request.views.push(shared(request.views, view)) - 1;
    return new Promise((resolve, reject) => {
      answered.push(({ before, views }) => resolve({ before, answer: must(views[index]) }));
      failed.push(reject);
    });
  }

  #gather(operation: Operation, place: Place): Map<string, Waiting> {
    let gathered = this.#gathered[place].get(operation);
    if (gathered === undefined) {
      this.#gathered[place].set(operation, (gathered = new Map<string, Waiting>()));
      void this.#askAll(operation, gathered, place);
    }
    return gathered;
  }

  /** Calls the store one request after the other, leaving threads to other operations. */
  async #askAll(operation: Operation, gathered: Map<string, Waiting>, place: Place): Promise<void> {
    await yieldToEventLoop();
    while (gathered.size > 0) {
      const some: Waiting[] = [];
      // Take the first ones only: there may be fifty thousand.
      for (const [key, entry] of gathered) {
        gathered.delete(key);
        if (some.push(entry) >= REQUESTS_AT_ONCE) break;
      }
      await this.#ask(some, operation, place);
    }
    this.#gathered[place].delete(operation);
  }

  async #ask(entries: readonly Waiting[], operation: Operation, place: Place): Promise<void> {
    try {
      const requests = entries.map(({ request }) => request);
      const answers = await this.#slots.use(operation.caller, () => this.#timed(operation, requests, place));
      const left = entries.filter(({ answered }, i) => {
        const answer = answers[i];
        if (answer !== undefined) answered.forEach((tell) => tell(answer));
        return answer === undefined;
      });
      if (left.length > 0) await this.#ask(left, operation, place);
    } catch (error) {
      // Ask one by one: the requests may be too much only together, and one too large must not fail the others.
      if (entries.length > 1 && error instanceof AppError && error.code === 'QUERY_TOO_COMPLEX')
        for (const entry of entries) await this.#ask([entry], operation, place);
      else for (const { failed } of entries) failed.forEach((tell) => tell(error));
    }
  }

  async #timed(operation: Operation, requests: SeriesRequest[], place: Place): Promise<(SeriesAnswer | undefined)[]> {
    operation.check();
    const end = this.#time.begin();
    try {
      return await this.#store.series(requests, place);
    } finally {
      operation.worked(end());
    }
  }
}

/** The view, with the very edges of an earlier view if they are equal, so that both share the work. */
function shared(views: readonly SeriesView[], view: SeriesView): SeriesView {
  if (view.kind !== 'buckets') return view;
  const { edges } = view;
  const same = views.find(
    (other) =>
      other.kind === 'buckets' &&
      other.edges.length === edges.length &&
      other.edges.every((edge, i) => edge === edges[i]),
  );
  return same?.kind === 'buckets' ? { ...view, edges: same.edges } : view;
}
