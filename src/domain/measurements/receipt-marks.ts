import type { Database } from '../database.ts';
import { InstallationSchema } from '../entities/installation.ts';
import { MAX_AHEAD_MS, type ReceiptMarks } from './receipt-times.ts';

const NAME = 'receipt times of device ';
const WRITE_EVERY_MS = 100;
/** The database did not take some. */
const RETRY_MS = 1_000;
/** Of one transaction. */
const AT_ONCE = 500;
/** A later one stays, which another node may have written, unless the clock was put back since. */
const WRITE =
  'insert into installation (name, value) values (?, ?) on conflict (name) do update set value = excluded.value ' +
  'where cast(installation.value as bigint) < cast(excluded.value as bigint) ' +
  `or cast(installation.value as bigint) > cast(excluded.value as bigint) + ${MAX_AHEAD_MS}`;

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
    const rows = await deps.database.read().find(InstallationSchema, { name: { $like: `${NAME}%` } });
    const now = deps.now();
    const isOver = (until: number): boolean => until < now || until > now + MAX_AHEAD_MS;
    const over = rows.filter(({ value }) => isOver(Number(value)));
    for (let at = 0; at < over.length; at += AT_ONCE) {
      const gone = over.slice(at, at + AT_ONCE).map(({ name, value }) => ({ name, value }));
      // Unless another node has written it again.
      const removing = deps.database.write(async (em) => {
        await em.nativeDelete(InstallationSchema, { $or: gone });
      });
      // They can stay until the next start, as when another node writes some of them just now.
      await removing.catch(deps.onError);
    }
    const left = rows.filter(({ value }) => !isOver(Number(value)));
    return new StoredReceiptMarks(
      deps,
      new Map(left.map(({ name, value }) => [Number(name.slice(NAME.length)), Number(value)])),
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
    // In one order on all nodes, so that no two wait for each other.
    const marks = [...this.#waiting].sort(([a], [b]) => a - b).slice(0, AT_ONCE);
    if (marks.length === 0) return;
    let waitMs = WRITE_EVERY_MS;
    try {
      await this.#deps.database.write(async (em) => {
        for (const [key, until] of marks) await em.execute(WRITE, [`${NAME}${key}`, String(until)], 'run');
      });
      for (const [key, until] of marks) if (this.#waiting.get(key) === until) this.#waiting.delete(key);
    } catch (error) {
      this.#deps.onError(error);
      waitMs = RETRY_MS;
    }
    if (this.#waiting.size > 0) this.#timer ??= setTimeout(() => void this.#flush(), waitMs).unref();
  }
}
