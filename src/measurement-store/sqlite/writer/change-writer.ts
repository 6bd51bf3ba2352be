import type Sqlite from 'better-sqlite3';
import type { Change } from '../../chunks/edit.ts';
import type { Seq } from '../../chunks/snapshot.ts';
import { packSummary } from '../../chunks/summary-bytes.ts';
import { eachFrame } from '../../readings/reading-frames.ts';
import { cutIfLong } from '../../readings/reading-parts.ts';
import type { PartWriter } from './part-writer.ts';
import type { ReadingInserts } from './reading-inserts.ts';
import { HEAR } from './write-buffer.ts';

/** Writes what a slice of an edit changes, inside the transaction of the caller. */
export class ChangeWriter {
  readonly #readings: ReadingInserts;
  readonly #parts: PartWriter;
  /** Both return whether the reading had parts. */
  readonly #deleteReading: Sqlite.Statement<[number, number, Seq], number>;
  readonly #updateReading: Sqlite.Statement<[Buffer, number, number, Seq], number>;
  readonly #deleteChunk: Sqlite.Statement;
  readonly #insertChunk: Sqlite.Statement;
  readonly #moveHorizon: Sqlite.Statement;
  readonly #hear: Sqlite.Statement;

  constructor(db: Sqlite.Database, readings: ReadingInserts, parts: PartWriter) {
    this.#readings = readings;
    this.#parts = parts;
    const which = 'WHERE device_key = ? AND ts = ? AND seq = ? RETURNING has_parts';
    this.#deleteReading = db.prepare<[number, number, Seq], number>(`DELETE FROM reading ${which}`).pluck();
    this.#updateReading = db
      .prepare<[Buffer, number, number, Seq], number>(`UPDATE reading SET packed = ? ${which}`)
      .pluck();
    this.#deleteChunk = db.prepare('DELETE FROM chunk WHERE device_key = ? AND field_key = ? AND first_at = ?');
    this.#moveHorizon = db.prepare('UPDATE live_horizon SET seq = max(seq, ?)');
    this.#insertChunk = db.prepare(
      'INSERT INTO chunk (device_key, field_key, first_at, last_at, count, summary, packed) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
    this.#hear = db.prepare(HEAR);
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
      const { packed, parts } = values ? cutIfLong(toBuffer(values)) : GONE;
      const hadParts = packed
        ? this.#updateReading.get(packed, deviceKey, timestamp, seq)
        : this.#deleteReading.get(deviceKey, timestamp, seq);
      if (hadParts === undefined) {
        missed++;
        continue;
      }
      if (hadParts === 1) this.#parts.remove(deviceKey, timestamp);
      this.#parts.put(deviceKey, timestamp, parts);
    }
    return missed;
  }

  #writeFilled(filled: Uint8Array, seq: number): void {
    const frames = toBuffer(filled);
    const now = Date.now();
    eachFrame(
      frames,
      (deviceKey, heardAt) => this.#hear.run(deviceKey, heardAt, seq),
      (deviceKey, timestamp, start, end) =>
        this.#readings.addUnder(deviceKey, timestamp, now, seq, frames.subarray(start, end)),
    );
  }
}

const GONE = { packed: null, parts: [] };

function toBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length);
}
