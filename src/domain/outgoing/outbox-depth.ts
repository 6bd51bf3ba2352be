import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import type { Database } from '../ports/database.ts';

/** How much waits for endpoints that are on, over all nodes, as it was measured last. */
export class OutboxDepth {
  readonly #database: Database;
  readonly #now: () => number;
  /** Number of deliveries. */
  waiting = 0;
  #oldestAt: number | null = null;

  constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /** How long the oldest of them has waited, in seconds; 0: nothing waits. */
  get ageSeconds(): number {
    return this.#oldestAt === null ? 0 : Math.max(0, this.#now() - this.#oldestAt) / 1000;
  }

  /** Measures, one endpoint after the other: one may have a hundred thousand. */
  async measure(): Promise<void> {
    const read = () => this.#database.read();
    const endpoints = await read().execute<{ key: number }[]>('select "key" from endpoint where enabled');
    let [waiting, oldestAt]: [number, number | null] = [0, null];
    for (const { key } of endpoints) {
      const of = "from delivery where endpoint_key = ? and status = 'WAITING'";
      const [first] = await read().execute<{ at: number | string }[]>(
        `select created_at as at ${of} order by "key" limit 1`,
        [key],
      );
      if (first === undefined) continue;
      const [row] = await read().execute<{ count: number | string }[]>(`select count(*) as count ${of}`, [key]);
      waiting += Number(row?.count ?? 0);
      oldestAt = Math.min(oldestAt ?? Infinity, Number(first.at));
      await yieldToEventLoop();
    }
    this.waiting = waiting;
    this.#oldestAt = oldestAt;
  }
}
