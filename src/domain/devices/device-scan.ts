import type { Access } from '../access/access.ts';
import type { Database } from '../ports/database.ts';
import { EventLoopQueue } from '../../scheduling/event-loop-queue.ts';
import { BackgroundLane } from '../../scheduling/background-lane.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';

/** Going through devices takes as long as there are: what takes longer than most lists is held against who asks … */
const USUAL_MS = 1;
/** … on the event loop with what it costs besides, such as pages of the file that others find gone from the caches; … */
const HERE_COUNTS = 1.5;
/** … of what PostgreSQL works on other processors less, and in the background as little as all else that it reads there. */
const ELSEWHERE_COUNTS = 0.7;
const ELSEWHERE_IN_BACKGROUND = 0.25;
/** When so much goes on there, what comes then has its turn … */
const BUSY = 4;
/** … as what comes from those who use much: so much at once; waiting, of one token. */
const AT_ONCE = 2;
const MAX_WAITING = 1000;
/** So many devices one slice goes through at most: about 3 ms. */
const MOST = 4_000;
/** So many at least: what takes long may be that others have the connection first. */
const LEAST = 250;
/** A slice that takes longer is followed by one half as large, one that is shorter by one twice as large. */
const LONG_MS = 5;
const SHORT_MS = 2;
/** Others have their turn after so long. */
const GIVES_WAY_AFTER_MS = 4;

/** SQL conditions that must all hold, with the values of their question marks. */
export interface Conditions {
  sql: string[];
  values: unknown[];
}

/** With the values of its question marks. */
export interface Statement {
  text: string;
  values: unknown[];
}

/**
 * Which devices there are to go through: what one part of them has in common, and the next, each device in one part only;
 * `whole`: the same of all of them at once. A part need not say it: of thousands of workspaces each would name all.
 */
export interface Scope {
  whole: Conditions;
  /** null: they are few, and little is looked for in them. */
  parts: readonly Conditions[] | null;
}

/** In the order of their keys, behind one of them. */
interface Way {
  descending?: boolean;
  after?: number | null;
  /** Whether nothing behind the key is wanted any more of those that have the same value. */
  isEnough?: (key: number) => boolean;
  /** So many texts are looked for in each device; left out: at most one. A hundred in long ones take half a millisecond. */
  searches?: number;
  asker?: Asker | undefined;
}

/** For whom devices are gone through; where it says nothing, the token pays, and whoever asks waits to the end. */
export interface Asker {
  /** Asked before each statement; what it throws ends them: nobody waits for them any more. */
  check?: () => void;
  /** Takes the ms that they took instead of the token's account: they are gone through in the background. */
  spend?: (milliseconds: number) => void;
}

/**
 * Statements over the devices of somebody, on the caller's account. SQLite answers before the event loop turns, so there
 * one statement after the other is answered, and one that goes through very many is asked slice by slice.
 */
export class DeviceScan {
  readonly #database: Database;
  readonly #shares: Pick<FairScheduler, 'spend' | 'usesMuch'>;
  readonly #turns = new EventLoopQueue(GIVES_WAY_AFTER_MS);
  /** Of those who use much, and of a crowd, so that others find processors and connections. */
  readonly #elsewhere = new BackgroundLane({ atOnce: AT_ONCE, maxWaiting: MAX_WAITING });

  constructor(database: Database, shares: Pick<FairScheduler, 'spend' | 'usesMuch'>) {
    this.#database = database;
    this.#shares = shares;
  }

  /** The rows of one statement. */
  rows<R>(access: Access, statement: Statement, asker: Asker = {}): Promise<R[]> {
    return this.#spending(access, asker, () => this.#execute<R>(statement));
  }

  /**
   * The rows of the statement for each slice of the scope, of one part after the other; the whole as one slice on
   * PostgreSQL, and where it has no parts. A device is in one slice only, whatever changes meanwhile.
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

  /** The last of so many devices; null: there are fewer. */
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
    return hasTurns ? this.#elsewhere.one(access, timed) : timed();
  }
}

/** Also behind the one key and up to the other, which is the slice's last; null: without end. */
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
