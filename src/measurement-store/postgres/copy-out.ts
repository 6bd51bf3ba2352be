import type pg from 'pg';
import { ByteWriter } from '../chunks/byte-writer.ts';

/** `PGCOPY\n\377\r\n\0`, flags, and the length of an extension that is not there. */
const HEADER_BYTES = 19;

/** A query as `pg` runs it: methods that it calls on the way. */
class CopyOut implements pg.Submittable {
  readonly #text: string;
  readonly copied: Promise<Uint8Array>;
  readonly #bytes: ByteWriter;
  /** `pg` puts its own before this one, for the time limit. */
  callback!: (error: Error | null) => void;

  constructor(text: string, aboutBytes: number) {
    this.#text = text;
    this.#bytes = new ByteWriter(aboutBytes);
    this.copied = new Promise((resolve, reject) => {
      this.callback = (error) => (error === null ? resolve(this.#bytes.written()) : reject(error));
    });
  }

  submit(connection: pg.Connection): null {
    connection.query(this.#text);
    return null;
  }

  /** The bytes are `pg`'s, which writes over them. */
  handleCopyData({ chunk }: { chunk: Buffer }): void {
    this.#bytes.bytes(chunk);
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
  readonly #bytes: Buffer;
  #at = HEADER_BYTES;

  constructor(copied: Uint8Array) {
    this.#bytes = Buffer.from(copied.buffer, copied.byteOffset, copied.length);
  }

  /** Number of columns of the next row; -1 behind the last one. */
  next(): number {
    this.#at += 2;
    return this.#bytes.readInt16BE(this.#at - 2);
  }

  /** An int4. */
  int(): number {
    this.#at += 8;
    return this.#bytes.readInt32BE(this.#at - 4);
  }

  /** An int8 that is a safe integer. */
  bigint(): number {
    this.#at += 12;
    return this.#bytes.readInt32BE(this.#at - 8) * 2 ** 32 + this.#bytes.readUInt32BE(this.#at - 4);
  }

  /** A bytea; null as in SQL. */
  bytes(): Buffer | null {
    const length = this.#bytes.readInt32BE(this.#at);
    const start = this.#at + 4;
    this.#at = start + Math.max(0, length);
    return length < 0 ? null : this.#bytes.subarray(start, this.#at);
  }
}

/**
 * Results of `read` for each row of a SELECT without parameters: it reads all columns, none of them null but a bytea.
 * `pg` reads results as text only, in which a bytea is twice as long. `aboutBytes`: estimated length; memory that grows
 * is copied and collected again and again.
 */
export async function copyOut<T>(
  client: pg.ClientBase,
  select: string,
  aboutBytes: number,
  read: (row: CopiedRow) => T,
): Promise<T[]> {
  const copied = await client.query(new CopyOut(`COPY (${select}) TO STDOUT (FORMAT binary)`, aboutBytes)).copied;
  const row = new CopiedRow(copied);
  const rows: T[] = [];
  while (row.next() >= 0) rows.push(read(row));
  return rows;
}
