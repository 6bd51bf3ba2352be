import type pg from 'pg';

/** `PGCOPY\n\377\r\n\0`, flags, and the length of an extension that is not there. */
const HEADER_BYTES = 19;
const INITIAL_BYTES = 65_536;

/** A query as `pg` runs it: what it calls on the way. */
class CopyOut implements pg.Submittable {
  readonly #text: string;
  readonly copied: Promise<Buffer>;
  #bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  #length = 0;
  /** `pg` puts its own before this one, for the time limit. */
  callback!: (error: Error | null) => void;

  constructor(text: string) {
    this.#text = text;
    this.copied = new Promise((resolve, reject) => {
      this.callback = (error) => (error === null ? resolve(this.#bytes.subarray(0, this.#length)) : reject(error));
    });
  }

  submit(connection: pg.Connection): null {
    connection.query(this.#text);
    return null;
  }

  /** The bytes are `pg`'s, which writes over them. */
  handleCopyData({ chunk }: { chunk: Buffer }): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    chunk.copy(this.#bytes, this.#length);
    this.#length = needed;
  }

  handleError(error: Error): void {
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(null);
  }

  handleCommandComplete(): void {}
}

/** The columns of a row, read one after the other. */
class CopiedRow {
  readonly #view: DataView;
  readonly #bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = at;
  }

  /** How many columns the next row has; -1 behind the last one. */
  next(): number {
    this.at += 2;
    return this.#view.getInt16(this.at - 2);
  }

  /** An int4. */
  int(): number {
    this.at += 8;
    return this.#view.getInt32(this.at - 4);
  }

  /** An int8 that is a safe integer. */
  bigint(): number {
    this.at += 12;
    return this.#view.getInt32(this.at - 8) * 2 ** 32 + this.#view.getUint32(this.at - 4);
  }

  /** A bytea; null as in SQL. */
  bytes(): Buffer | null {
    const length = this.#view.getInt32(this.at);
    const start = this.at + 4;
    this.at = start + Math.max(0, length);
    return length < 0 ? null : this.#bytes.subarray(start, this.at);
  }
}

/**
 * What `read` makes of each row of a SELECT without parameters: it reads all columns, none of them null but a bytea. `pg`
 * reads results as text only, and a bytea is twice as long as text: a year's chunks take 0.9 ms this way instead of 5.4.
 */
export async function copyOut<T>(client: pg.ClientBase, select: string, read: (row: CopiedRow) => T): Promise<T[]> {
  const bytes = await client.query(new CopyOut(`COPY (${select}) TO STDOUT (FORMAT binary)`)).copied;
  const row = new CopiedRow(bytes, HEADER_BYTES);
  const rows: T[] = [];
  while (row.next() >= 0) rows.push(read(row));
  return rows;
}
