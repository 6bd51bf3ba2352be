import type { Access } from '../access/access.ts';
import type { Database } from '../database.ts';
import { LoopTurns } from '../loop-turns.ts';
import type { WorkShares } from '../work-shares.ts';

/** Going through devices takes as long as there are: what takes longer than most lists is held against who asks … */
const USUAL_MS = 1;
/** … of what PostgreSQL works on other processors a quarter. */
const ELSEWHERE_COUNTS = 0.25;
/** So many devices one slice goes through at most: about 3 ms. */
const MOST = 4_000;
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

/** Which devices there are to go through: those that have one of the values. */
export interface Scope {
  column: 'workspace_id' | 'product_key';
  values: readonly (string | number)[];
}

/** In the order of their keys, behind one of them. */
interface Way {
  descending?: boolean;
  after?: number | null;
}

/**
 * Statements over the devices of somebody, on the caller's account. SQLite answers before the event loop turns, so there
 * one statement after the other is answered, and one that goes through very many is asked slice by slice.
 */
export class DeviceScan {
  readonly #database: Database;
  readonly #shares: Pick<WorkShares, 'spend'>;
  readonly #turns = new LoopTurns(GIVES_WAY_AFTER_MS);

  constructor(database: Database, shares: Pick<WorkShares, 'spend'>) {
    this.#database = database;
    this.#shares = shares;
  }

  /** The rows of one statement. */
  rows<R>(access: Access, statement: Statement): Promise<R[]> {
    return this.#spending(access, () => this.#execute<R>(statement));
  }

  /**
   * The rows of the statement for each slice of the scope; one slice on PostgreSQL, and where the scope is null. A device
   * is in one slice only, whatever changes meanwhile.
   */
  async *slices<R>(
    access: Access,
    scope: Scope | null,
    { descending = false, after = null }: Way,
    of: (slice: Conditions) => Statement,
  ): AsyncGenerator<R[]> {
    if (scope === null || !this.#isHere) {
      yield await this.rows<R>(access, of({ sql: [], values: [] }));
      return;
    }
    // Of each value: all of them together fill a slice.
    let count = Math.ceil(MOST / Math.max(1, scope.values.length));
    for (;;) {
      let tookMs = 0;
      const { rows, last } = await this.#spending(access, async () => {
        const from = performance.now();
        const last = await this.#lastKey(scope, { descending, after }, count);
        const rows = await this.#execute<R>(of(between(after, last, descending)));
        tookMs = performance.now() - from;
        return { rows, last };
      });
      yield rows;
      if (last === null) return;
      after = last;
      if (tookMs > LONG_MS) count = Math.ceil(count / 2);
      else if (tookMs < SHORT_MS) count = Math.min(count * 2, MOST);
    }
  }

  /** Where a slice ends that has so many devices of one of the values, and no more of any; null: with the last device. */
  async #lastKey(
    { column, values }: Scope,
    { descending, after }: Required<Way>,
    count: number,
  ): Promise<number | null> {
    const [nearest, order, beyond] = descending ? ['max', 'desc', '<'] : ['min', 'asc', '>'];
    const text =
      `select ${nearest}((select d."key" from device d where d.${column} = one.value and d."key" ${beyond} ? ` +
      `order by d."key" ${order} limit 1 offset ?)) as "key" from json_each(?) as one`;
    const from = after ?? (descending ? Number.MAX_SAFE_INTEGER : 0);
    const found = await this.#execute<{ key: number | null }>({
      text,
      values: [from, count - 1, JSON.stringify(values)],
    });
    return found[0]?.key ?? null;
  }

  get #isHere(): boolean {
    return this.#database.dialect === 'sqlite';
  }

  #execute<R>({ text, values }: Statement): Promise<R[]> {
    return this.#database.read().execute<R[]>(text, values);
  }

  #spending<T>({ tokenId }: Access, work: () => Promise<T>): Promise<T> {
    const timed = async (): Promise<T> => {
      const from = performance.now();
      try {
        return await work();
      } finally {
        const tookMs = performance.now() - from;
        if (tookMs > USUAL_MS) this.#shares.spend(tokenId, tookMs * (this.#isHere ? 1 : ELSEWHERE_COUNTS));
      }
    };
    return this.#isHere ? this.#turns.run(timed) : timed();
  }
}

/** Behind the one key up to the other, which is the slice's last; null: without end. */
function between(after: number | null, last: number | null, descending: boolean): Conditions {
  const conditions: Conditions = { sql: [], values: [] };
  const add = (condition: string, key: number | null): void => {
    if (key === null) return;
    conditions.sql.push(condition);
    conditions.values.push(key);
  };
  add(`d."key" ${descending ? '<' : '>'} ?`, after);
  add(`d."key" ${descending ? '>=' : '<='} ?`, last);
  return conditions;
}
