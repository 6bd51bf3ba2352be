import type { Database, Dialect } from '../ports/database.ts';
import { rowsOf } from '../sql/json-rows.ts';
import { MAX_AHEAD_MS, type ReceiptMarks } from './receipt-times.ts';

const NAME = 'receipt times of device ';
const WRITE_EVERY_MS = 100;
/** The database did not take some. */
const RETRY_MS = 1_000;
/** Of one transaction. */
const AT_ONCE = 500;
const IS_MARK = `name like '${NAME}%'`;
/** … that has passed, or is of a clock that was put back since. What the other rows hold is no number. */
const IS_OVER = `case when ${IS_MARK} then cast(value as bigint) not between ? and ? else false end`;

interface Mark {
  name: string;
  value: string;
}

interface StoredMarksDeps {
  database: Database;
  now: () => number;
  /** The database did not take some; they are written with the next. */
  onError: (error: unknown) => void;
}

/** By when each device may have got receipt times that lie ahead of the clock: kept in the database, as they outlive a node. */
export class StoredReceiptMarks implements ReceiptMarks {
  readonly known: ReadonlyMap<number, number>;
  readonly #deps: StoredMarksDeps;
  readonly #waiting = new Map<number, number>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  private constructor(deps: StoredMarksDeps, known: ReadonlyMap<number, number>) {
    this.#deps = deps;
    this.known = known;
  }

  /** With those that other nodes and earlier starts have left; those that have passed are forgotten. */
  static async open(deps: StoredMarksDeps): Promise<StoredReceiptMarks> {
    const now = deps.now();
    const times = [now, now + MAX_AHEAD_MS];
    // Unless another node has written it again.
    const removing = deps.database.write((em) => em.execute(`delete from installation where ${IS_OVER}`, times, 'run'));
    // They can stay until the next start, as when another node writes some of them just now.
    await removing.catch(deps.onError);
    // Plain rows, as they are many: 300,000 entities took 0.7 GB.
    const rows = await deps.database
      .read()
      .execute<Mark[]>(`select name, value from installation where ${IS_MARK} and not ${IS_OVER}`, times);
    return new StoredReceiptMarks(
      deps,
      new Map(rows.map(({ name, value }) => [Number(name.slice(NAME.length)), Number(value)])),
    );
  }

  note(deviceKey: number, until: number): void {
    this.#waiting.set(deviceKey, until);
    this.#timer ??= setTimeout(() => void this.#flush(), WRITE_EVERY_MS).unref();
  }

  /** What was noted is in the database when this resolves, or could not be. */
  async stop(): Promise<void> {
    let before: number;
    do {
      before = this.#waiting.size;
      await this.#flush();
    } while (this.#waiting.size > 0 && this.#waiting.size < before);
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** Never rejects. */
  #flush(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    return (this.#writing = this.#writing.then(() => this.#write()));
  }

  async #write(): Promise<void> {
    // Of those that wait for longest; in one order on all nodes, so that no two wait for each other.
    const marks: [device: number, until: number][] = [];
    for (const mark of this.#waiting) if (marks.push(mark) === AT_ONCE) break;
    marks.sort(([a], [b]) => a - b);
    if (marks.length === 0) return;
    let waitMs = WRITE_EVERY_MS;
    try {
      await this.#deps.database.write(async (em) => {
        await em.execute(writing(this.#deps.database.dialect), [JSON.stringify(marks)], 'run');
      });
      for (const [key, until] of marks) if (this.#waiting.get(key) === until) this.#waiting.delete(key);
    } catch (error) {
      this.#deps.onError(error);
      waitMs = RETRY_MS;
    }
    if (this.#waiting.size > 0) this.#timer ??= setTimeout(() => void this.#flush(), waitMs).unref();
  }
}

/** One statement for all. A later one stays, which another node may have written, unless the clock was put back since. */
function writing(dialect: Dialect): string {
  return (
    `insert into installation (name, value) select '${NAME}' || (value->>0), value->>1 from ${rowsOf(dialect)} where true ` +
    'on conflict (name) do update set value = excluded.value ' +
    'where cast(installation.value as bigint) < cast(excluded.value as bigint) ' +
    `or cast(installation.value as bigint) > cast(excluded.value as bigint) + ${MAX_AHEAD_MS}`
  );
}
