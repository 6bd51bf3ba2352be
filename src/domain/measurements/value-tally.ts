import type { Database } from '../ports/database.ts';
import { rowsOf } from '../sql/json-rows.ts';

const FLUSH_EVERY_MS = 2_000;
/** ms of a day. */
const DAY_MS = 86_400_000;
/** Maximum sums per statement. */
const ROWS_AT_ONCE = 1_000;

/** Values that a workspace stored on a day. */
export interface DayValues {
  /** Number of the day since 1970, in UTC. */
  day: number;
  stored: number;
}

interface Sum extends DayValues {
  workspaceId: string;
}

/**
 * Counts the values that each workspace stores, by the day of their receipt. Collected in memory and written every two
 * seconds: a server that is killed loses the counts since, not the values.
 */
export class ValueTally {
  readonly #database: Database;
  readonly #now: () => number;
  /** By workspace and day. */
  #waiting = new Map<string, Sum>();
  readonly #timer: NodeJS.Timeout;
  #writing: Promise<void> = Promise.resolve();

  /** `now`: ms UTC. */
  constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
    this.#timer = setInterval(() => void this.flush(), FLUSH_EVERY_MS);
    this.#timer.unref();
  }

  /** Counts values that were stored just now. */
  note(workspaceId: string, stored: number): void {
    if (stored > 0) this.#add({ workspaceId, day: this.#today(), stored });
  }

  /** The last days of a workspace up to today, oldest first, a day without values included. */
  async daysOf(workspaceId: string, days: number): Promise<DayValues[]> {
    const first = this.#today() - days + 1;
    await this.flush();
    const rows = await this.#database
      .read()
      .execute<{ day: number; stored: number | string }[]>(
        'select day, stored from workspace_day where workspace_id = ? and day >= ?',
        [workspaceId, first],
      );
    const known = new Map(rows.map(({ day, stored }) => [day, Number(stored)]));
    return Array.from({ length: days }, (_, at) => ({ day: first + at, stored: known.get(first + at) ?? 0 }));
  }

  /** Writes what has been counted so far, if the database takes it; else it is written with the next. */
  flush(): Promise<void> {
    return (this.#writing = this.#writing.then(() => this.#write()));
  }

  /** Writes the rest and ends. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  async #write(): Promise<void> {
    if (this.#waiting.size === 0) return;
    const sums = [...this.#waiting.values()];
    this.#waiting = new Map();
    for (let from = 0; from < sums.length; from += ROWS_AT_ONCE) {
      const piece = sums.slice(from, from + ROWS_AT_ONCE);
      await this.#store(piece).catch(() => {
        for (const sum of piece) this.#add(sum);
      });
    }
  }

  async #store(sums: readonly Sum[]): Promise<void> {
    const { dialect } = this.#database;
    const rows = sums.map(({ workspaceId, day, stored }) => [workspaceId, day, stored]);
    await this.#database.write((em) =>
      em.execute(
        `insert into workspace_day (workspace_id, day, stored)
         select w.id, cast(value->>1 as integer), cast(value->>2 as bigint)
         from ${rowsOf(dialect)} join workspace w on w.id = value->>0
         where true on conflict (workspace_id, day) do update set stored = workspace_day.stored + excluded.stored`,
        [JSON.stringify(rows)],
        'run',
      ),
    );
  }

  #add({ workspaceId, day, stored }: Sum): void {
    const key = `${workspaceId} ${day}`;
    const known = this.#waiting.get(key);
    if (known === undefined) this.#waiting.set(key, { workspaceId, day, stored });
    else known.stored += stored;
  }

  #today(): number {
    return Math.floor(this.#now() / DAY_MS);
  }
}
