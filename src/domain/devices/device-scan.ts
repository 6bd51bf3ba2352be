import type { Access } from '../access/access.ts';
import type { Database } from '../ports/database.ts';
import { EventLoopQueue } from '../../scheduling/event-loop-queue.ts';
import { BackgroundLane } from '../../scheduling/background-lane.ts';
import { LANES } from '../../scheduling/lanes.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';

/** Time of a usual list; a scan is charged for what exceeds it. */
const USUAL_MS = 1;
/** Price of a ms on the event loop, which includes side effects such as pages evicted from the file's cache. */
const HERE_COUNTS = 1.5;
/**
 * Price of a ms of PostgreSQL on other processors, and of one in the background, where it is as low as for its other
 * reads.
 */
const ELSEWHERE_COUNTS = 0.7;
const ELSEWHERE_IN_BACKGROUND = 0.25;
/** Number of scans in progress from which further ones queue in the background lane. */
const BUSY = 4;
/** Maximum devices per slice. */
const MOST = 4_000;
/** Minimum devices per slice: a slow one may only have waited for the connection. */
const LEAST = 250;
/** A slice that takes longer halves the next one; a shorter one doubles it. */
const LONG_MS = 5;
const SHORT_MS = 2;

/** SQL conditions that must all hold, with the values of their parameters. */
export interface Conditions {
  sql: string[];
  values: unknown[];
}

/** An SQL statement with the values of its parameters. */
export interface Statement {
  text: string;
  values: unknown[];
}

/**
 * The devices to scan: the condition of each part, every device in one part only; `whole`: the condition of all parts
 * together. A part may leave that out: with thousands of workspaces each would repeat them all.
 */
export interface Scope {
  whole: Conditions;
  /** null: they are few, with little to search for. */
  parts: readonly Conditions[] | null;
}

/** The order of keys, and the key to start behind. */
interface Way {
  descending?: boolean;
  after?: number | null;
  /** True when no further device with the same sort value is wanted behind the key. */
  isEnough?: (key: number) => boolean;
  /** Number of texts searched in each device, which shortens the slices; left out: at most one. */
  searches?: number;
  asker?: Asker | undefined;
}

/** The party a scan works for; by default the token pays, and the scan runs to its end. */
export interface Asker {
  /** Called before each statement; an error that it throws ends the scan. */
  check?: () => void;
  /** Gets the ms to charge in place of the token's account: the scan runs in the background. */
  spend?: (milliseconds: number) => void;
}

/**
 * Scans devices on the caller's account. SQLite answers before the event loop turns, so statements run one by one
 * there, and a scan of many devices slice by slice.
 */
export class DeviceScan {
  readonly #database: Database;
  readonly #shares: Pick<FairScheduler, 'spend' | 'usesMuch'>;
  readonly #turns = new EventLoopQueue(LANES.deviceLists);
  /** The lane of callers that use much, and of crowds, so that others find processors and connections. */
  readonly #elsewhere = new BackgroundLane(LANES.deviceScans);

  constructor(database: Database, shares: Pick<FairScheduler, 'spend' | 'usesMuch'>) {
    this.#database = database;
    this.#shares = shares;
  }

  /** The rows of one statement. */
  rows<R>(access: Access, statement: Statement, asker: Asker = {}): Promise<R[]> {
    return this.#spending(access, asker, () => this.#execute<R>(statement));
  }

  /**
   * The rows of the statement for each slice of the scope, part by part; the whole as one slice on PostgreSQL, and for
   * a scope without parts. A device is in one slice only, whatever changes meanwhile.
   */
  async *slices<R>(
    access: Access,
    { whole, parts }: Scope,
    { descending = false, after = null, isEnough = () => false, searches = 1, asker = {} }: Way,
    of: (slice: Conditions) => Statement,
  ): AsyncGenerator<R[]> {
    if (parts === null || !this.#isHere) {
      yield await this.rows<R>(access, of(whole), asker);
      return;
    }
    const [most, least] = [MOST, LEAST].map((count) => Math.ceil(count / Math.max(1, searches))) as [number, number];
    let count = most;
    for (const part of parts) {
      for (let from = after; ;) {
        let tookMs = 0;
        const { rows, last } = await this.#spending(access, asker, async () => {
          const began = performance.now();
          const behind = within(part, descending, from, null);
          const last = await this.#lastKey(behind, descending, count);
          const rows = await this.#execute<R>(of(within(behind, descending, null, last)));
          tookMs = performance.now() - began;
          return { rows, last };
        });
        yield rows;
        if (tookMs > LONG_MS) count = Math.max(least, Math.ceil(count / 2));
        else if (tookMs < SHORT_MS) count = Math.min(count * 2, most);
        if (last === null || isEnough(last)) break;
        from = last;
      }
    }
  }

  /** The last of the first `count` keys; null: there are fewer. */
  async #lastKey({ sql, values }: Conditions, descending: boolean, count: number): Promise<number | null> {
    const text = `select d."key" from device d where ${sql.join(' and ')} order by d."key" ${descending ? 'desc' : 'asc'} limit 1 offset ?`;
    const found = await this.#execute<{ key: number }>({ text, values: [...values, count - 1] });
    return found[0]?.key ?? null;
  }

  get #isHere(): boolean {
    return this.#database.dialect === 'sqlite';
  }

  #execute<R>({ text, values }: Statement): Promise<R[]> {
    return this.#database.read().execute<R[]>(text, values);
  }

  #spending<T>(access: Access, { check, spend }: Asker, work: () => Promise<T>): Promise<T> {
    const account = spend ?? ((milliseconds: number) => this.#shares.spend(access, milliseconds));
    const counts = this.#isHere ? HERE_COUNTS : spend === undefined ? ELSEWHERE_COUNTS : ELSEWHERE_IN_BACKGROUND;
    const timed = async (): Promise<T> => {
      check?.();
      const end = this.#database.time.begin();
      try {
        return await work();
      } finally {
        const tookMs = end();
        if (tookMs > USUAL_MS) account(tookMs * counts);
      }
    };
    if (this.#isHere) return this.#turns.run(timed);
    const hasTurns = this.#database.time.running >= BUSY || this.#shares.usesMuch(access);
    return hasTurns ? this.#elsewhere.run(access, timed) : timed();
  }
}

/** The conditions limited to keys behind `after` and up to the slice's last; null: without end. */
function within(
  { sql, values }: Conditions,
  descending: boolean,
  after: number | null,
  last: number | null,
): Conditions {
  const [beyond, upTo] = descending ? ['<', '>='] : ['>', '<='];
  const conditions: Conditions = { sql: [...sql], values: [...values] };
  const add = (comparison: string, key: number | null): void => {
    if (key === null) return;
    conditions.sql.push(`d."key" ${comparison} ?`);
    conditions.values.push(key);
  };
  add(beyond, after);
  add(upTo, last);
  return conditions;
}
