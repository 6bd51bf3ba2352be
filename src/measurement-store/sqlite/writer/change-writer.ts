import type Sqlite from 'better-sqlite3';
import type { Change } from '../../chunks/edit.ts';
import { packSummary } from '../../chunks/summary-bytes.ts';
import { eachFrame } from '../../readings/reading-frames.ts';
import { HEAR } from './write-buffer.ts';
import { readingInsert } from './reading-inserts.ts';

/** Writes what a slice of an edit changes, inside the transaction of the caller. `ReadingInserts` bring `merge_values`. */
export class ChangeWriter {
  readonly #deleteReading: Sqlite.Statement;
  readonly #updateReading: Sqlite.Statement;
  readonly #deleteChunk: Sqlite.Statement;
  readonly #insertChunk: Sqlite.Statement;
  readonly #moveHorizon: Sqlite.Statement;
  readonly #hear: Sqlite.Statement;
  readonly #fill: Sqlite.Statement;

  constructor(db: Sqlite.Database) {
    this.#deleteReading = db.prepare('DELETE FROM reading WHERE device_key = ? AND ts = ? AND seq = ?');
    this.#updateReading = db.prepare('UPDATE reading SET packed = ? WHERE device_key = ? AND ts = ? AND seq = ?');
    this.#deleteChunk = db.prepare('DELETE FROM chunk WHERE device_key = ? AND field_key = ? AND first_at = ?');
    this.#moveHorizon = db.prepare('UPDATE live_horizon SET seq = max(seq, ?)');
    this.#insertChunk = db.prepare(
      'INSERT INTO chunk (device_key, field_key, first_at, last_at, count, summary, packed) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    this.#hear = db.prepare(HEAR);
    // What is there already counts.
    this.#fill = db.prepare(readingInsert(1, 'excluded.packed, packed'));
  }

  /**
   * Returns how many of its readings had been written again in the meantime: those are as they were. What it fills in
   * gets the number of a commit.
   */
  write({ deviceKey, movedUpTo, readings, filled, chunksGone, chunksNew }: Change, commit: number): number {
    if (movedUpTo !== null) this.#moveHorizon.run(movedUpTo);
    for (const { fieldKey, firstAt } of chunksGone)
      // Planned from what is not there any more: what comes instead would come beside it.
      if (this.#deleteChunk.run(deviceKey, fieldKey, firstAt).changes === 0)
        throw new Error('A chunk that was to be replaced is not there.');
    for (const { fieldKey, firstAt, lastAt, count, summary, bytes } of chunksNew)
      this.#insertChunk.run(deviceKey, fieldKey, firstAt, lastAt, count, summary && packSummary(summary), bytes);
    if (filled !== null) this.#writeFilled(filled, commit);
    let missed = 0;
    for (const { timestamp, seq, values } of readings) {
      const { changes } = values
        ? this.#updateReading.run(values, deviceKey, timestamp, seq)
        : this.#deleteReading.run(deviceKey, timestamp, seq);
      if (changes === 0) missed++;
    }
    return missed;
  }

  #writeFilled({ buffer, byteOffset, length }: Uint8Array, seq: number): void {
    const frames = Buffer.from(buffer, byteOffset, length);
    const now = Date.now();
    eachFrame(
      frames,
      (deviceKey, heardAt) => this.#hear.run(deviceKey, heardAt, seq),
      (deviceKey, timestamp, start, end) => this.#fill.run(deviceKey, timestamp, now, seq, frames.subarray(start, end)),
    );
  }
}
