import type { LiveQueue } from '../../scheduling/bounded-stream.ts';

/** Maximum time that values wait for others of their message. */
const TOGETHER_MS = 1_000;
/** Maximum entries per message. */
export const ENTRIES_AT_ONCE = 500;
/** Events taken at once. */
const TAKEN = 200;

interface Sized {
  values: readonly unknown[];
}

/** Takes events from a stream in batches of at most a second, or as many values as a message has. */
export class Batches<Event extends Sized> {
  readonly #stream: LiveQueue<Event>;
  #coming: Promise<Event[]> | null = null;

  constructor(stream: LiveQueue<Event>) {
    this.#stream = stream;
  }

  /** The next batch; none: nothing came for `idleMs`. Null at the end; throws the stream's error. */
  async next(idleMs: number): Promise<Event[] | null> {
    const batch = await this.#take(idleMs);
    if (batch === undefined) return [];
    if (batch.length === 0) return null;
    const until = performance.now() + TOGETHER_MS;
    let values = valuesIn(batch);
    while (values < ENTRIES_AT_ONCE) {
      const more = await this.#take(until - performance.now());
      if (more === undefined || more.length === 0) break;
      batch.push(...more);
      values += valuesIn(more);
    }
    return batch;
  }

  /** What came within the time; undefined: nothing, and it is waited for. */
  async #take(ms: number): Promise<Event[] | undefined> {
    this.#coming ??= this.#stream.take(TAKEN);
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => resolve(undefined), Math.max(0, ms));
    try {
      const taken = await Promise.race([this.#coming, late]);
      if (taken !== undefined) this.#coming = null;
      return taken;
    } catch (error) {
      this.#coming = null;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

function valuesIn(events: readonly Sized[]): number {
  return events.reduce((sum, { values }) => sum + values.length, 0);
}
