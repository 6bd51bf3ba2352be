import { randomUUID } from 'node:crypto';
import type { Database } from '../ports/database.ts';

/** How long a node may read without saying so again; one that died gives up what it read by its end. */
const LEASE_MS = 30_000;

/** How far a reader is; `position` null: at the start. `at`: when it got there, in ms UTC. */
export interface ReaderPlace {
  position: string | null;
  at: number;
}

/** Who reads what on behalf of endpoints: one node at a time, from where the one before it stopped. */
export class ReaderLeases {
  readonly #database: Database;
  readonly #node = randomUUID();
  readonly #now: () => number;

  constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /** Takes or renews the lease; null: another node has it. Frees nothing of a process before this one on SQLite. */
  async take(name: string): Promise<ReaderPlace | null> {
    const now = this.#now();
    const rows = await this.#database.write((em) =>
      em.execute<{ position: string | null; at: number | string }[]>(
        `insert into outgoing_reader (name, node, lease_until, position, at) values (?, ?, ?, null, ?)
         on conflict (name) do update set node = excluded.node, lease_until = excluded.lease_until
         where outgoing_reader.node = excluded.node or outgoing_reader.lease_until < ? ${this.#isAlone ? 'or true' : ''}
         returning position, at`,
        [name, this.#node, now + LEASE_MS, now, now],
      ),
    );
    const [row] = rows;
    return row === undefined ? null : { position: row.position, at: Number(row.at) };
  }

  /** Notes how far this node is; false: another one reads by now. */
  async moveTo(name: string, position: string): Promise<boolean> {
    const rows = await this.#database.write((em) =>
      em.execute<{ name: string }[]>(
        'update outgoing_reader set position = ?, at = ? where name = ? and node = ? returning name',
        [position, this.#now(), name, this.#node],
      ),
    );
    return rows.length > 0;
  }

  /** Lets another node read at once. */
  async giveUp(name: string): Promise<void> {
    await this.#database.write((em) =>
      em.execute('update outgoing_reader set lease_until = 0 where name = ? and node = ?', [name, this.#node], 'run'),
    );
  }

  /** SQLite has one server at a time. */
  get #isAlone(): boolean {
    return this.#database.dialect === 'sqlite';
  }
}
