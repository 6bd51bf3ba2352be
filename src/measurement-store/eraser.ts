import type Sqlite from 'better-sqlite3';
import type { Purge, RemoveQuery } from '../domain/measurements/store.ts';
import type { Settler } from './settler.ts';
import { type Transact, transactor } from './sqlite-connection.ts';

const ROWS_A_SLICE = 2_000;

/** Work of many small transactions; between them the writer thread turns to others. */
export type Steps<T> = Generator<void, T, void>;

/**
 * Deletes measurements in small transactions. What waits for the device is settled first, and before the end the inbox
 * is settled as far as it goes, so that neither settling nor the inbox read again after a crash undoes a deletion.
 */
export class Eraser {
  readonly #db: Sqlite.Database;
  readonly #settler: Settler;
  readonly #transact: Transact;
  readonly #cut: Sqlite.Statement<number[], number>;
  readonly #delete: Sqlite.Statement<number[]>;
  readonly #nextField: Sqlite.Statement<number[], number>;

  constructor(db: Sqlite.Database, settler: Settler) {
    this.#db = db;
    this.#settler = settler;
    this.#transact = transactor(db);
    const range = 'FROM measurement WHERE device_key = ? AND field_key = ? AND ts >= ? AND ts < ?';
    this.#cut = db.prepare<number[], number>(`SELECT ts ${range} ORDER BY ts LIMIT 1 OFFSET ${ROWS_A_SLICE}`).pluck();
    this.#delete = db.prepare(`DELETE ${range}`);
    this.#nextField = db
      .prepare<number[], number>(
        'SELECT field_key FROM measurement WHERE device_key = ? AND field_key > ? ORDER BY field_key LIMIT 1',
      )
      .pluck();
  }

  *remove(query: RemoveQuery): Steps<number> {
    this.#settler.settleDevices([query.deviceKey]);
    let removed = 0;
    for (const fieldKey of new Set(query.fieldKeys))
      removed += yield* this.#removeField(query.deviceKey, fieldKey, query.from, query.to);
    yield* settleAll(this.#settler);
    return removed;
  }

  /** Writes down what is to be forgotten; `purge` does it. */
  addPurges(purges: Purge[]): void {
    const insert = this.#db.prepare('INSERT INTO purge (device_key, field_key) VALUES (?, ?)');
    this.#transact(() => {
      for (const purge of purges) insert.run(purge.deviceKey, purge.fieldKey);
    });
  }

  /** Works off all that is written down. */
  *purge(): Steps<void> {
    const next = this.#db.prepare<[], { id: number; device_key: number; field_key: number | null }>(
      'SELECT id, device_key, field_key FROM purge ORDER BY id LIMIT 1',
    );
    for (let purge = next.get(); purge; purge = next.get()) {
      const { id, device_key: deviceKey, field_key: fieldKey } = purge;
      this.#settler.settleDevices([deviceKey]);
      if (fieldKey === null) yield* this.#removeDevice(deviceKey);
      else yield* this.#removeField(deviceKey, fieldKey, -Infinity, Infinity);
      yield* settleAll(this.#settler);
      this.#transact(() => {
        if (fieldKey === null) this.#db.prepare('DELETE FROM device_state WHERE device_key = ?').run(deviceKey);
        this.#db.prepare('DELETE FROM purge WHERE id = ?').run(id);
      });
      yield;
    }
  }

  *#removeDevice(deviceKey: number): Steps<void> {
    let fieldKey: number | undefined = -1;
    while ((fieldKey = this.#nextField.get(deviceKey, fieldKey)) !== undefined)
      yield* this.#removeField(deviceKey, fieldKey, -Infinity, Infinity);
  }

  *#removeField(deviceKey: number, fieldKey: number, from: number, to: number): Steps<number> {
    let removed = 0;
    for (;;) {
      const cut = this.#cut.get(deviceKey, fieldKey, from, to);
      removed += this.#transact(() => this.#delete.run(deviceKey, fieldKey, from, cut ?? to).changes);
      yield;
      if (cut === undefined) return removed;
    }
  }
}

/** Settles everything that is in the inbox now, and empties it that far. */
export function* settleAll(settler: Settler): Steps<void> {
  const seq = settler.lastSeq;
  while (settler.settledSeq < seq) {
    if (!settler.hasGroup) settler.startGroup();
    settler.slice(3);
    yield;
  }
}
