import type Sqlite from 'better-sqlite3';
import type { Change } from '../../chunks/edit.ts';
import { packSummary } from '../../chunks/summary-bytes.ts';

/** Writes what a slice of an edit changes, inside the transaction of the caller. */
export class ChangeWriter {
  readonly #deleteReading: Sqlite.Statement;
  readonly #updateReading: Sqlite.Statement;
  readonly #deleteChunk: Sqlite.Statement;
  readonly #insertChunk: Sqlite.Statement;
  readonly #moveHorizon: Sqlite.Statement;

  constructor(db: Sqlite.Database) {
    this.#deleteReading = db.prepare('DELETE FROM reading WHERE device_key = ? AND ts = ? AND seq = ?');
    this.#updateReading = db.prepare('UPDATE reading SET packed = ? WHERE device_key = ? AND ts = ? AND seq = ?');
    this.#deleteChunk = db.prepare('DELETE FROM chunk WHERE device_key = ? AND field_key = ? AND first_at = ?');
    this.#moveHorizon = db.prepare('UPDATE live_horizon SET seq = max(seq, ?)');
    this.#insertChunk = db.prepare(
      'INSERT INTO chunk (device_key, field_key, first_at, last_at, count, summary, packed) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
  }

  /** Returns how many of its readings had been written again in the meantime: those are as they were. */
  write({ deviceKey, movedUpTo, readings, chunksGone, chunksNew }: Change): number {
    if (movedUpTo !== null) this.#moveHorizon.run(movedUpTo);
    for (const { fieldKey, firstAt } of chunksGone) this.#deleteChunk.run(deviceKey, fieldKey, firstAt);
    for (const { fieldKey, firstAt, lastAt, count, summary, bytes } of chunksNew)
      this.#insertChunk.run(deviceKey, fieldKey, firstAt, lastAt, count, summary && packSummary(summary), bytes);
    let missed = 0;
    for (const { timestamp, seq, values } of readings) {
      const { changes } = values
        ? this.#updateReading.run(values, deviceKey, timestamp, seq)
        : this.#deleteReading.run(deviceKey, timestamp, seq);
      if (changes === 0) missed++;
    }
    return missed;
  }
}
