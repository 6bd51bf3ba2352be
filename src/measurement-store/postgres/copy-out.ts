import type pg from 'pg';

/** `PGCOPY\n\377\r\n\0`, flags, and the length of an extension that is not there. */
const HEADER_BYTES = 19;
const INITIAL_BYTES = 65_536;

/** A query as `pg` runs it: what it calls on the way. */
class CopyOut implements pg.Submittable {
  readonly #text: string;
  readonly rows: Promise<Buffer[][]>;
  #bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  #length = 0;
  /** `pg` puts its own before this one, for the time limit. */
  callback!: (error: Error | null) => void;

  constructor(text: string) {
    this.#text = text;
    this.rows = new Promise((resolve, reject) => {
      this.callback = (error) =>
        error === null ? resolve(readRows(this.#bytes.subarray(0, this.#length))) : reject(error);
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

/**
 * The rows of a SELECT without parameters, each column in PostgreSQL's binary format (null: an empty one). `pg` reads
 * results as text only, and a bytea is twice as long as text: a year's chunks take 0.9 ms this way instead of 5.4.
 */
export function copyOut(client: pg.ClientBase, select: string): Promise<Buffer[][]> {
  return client.query(new CopyOut(`COPY (${select}) TO STDOUT (FORMAT binary)`)).rows;
}

function readRows(bytes: Buffer): Buffer[][] {
  const rows: Buffer[][] = [];
  let at = HEADER_BYTES;
  for (let columns = bytes.readInt16BE(at); columns >= 0; columns = bytes.readInt16BE(at)) {
    at += 2;
    const row: Buffer[] = [];
    for (let column = 0; column < columns; column += 1) {
      const start = at + 4;
      at = start + Math.max(0, bytes.readInt32BE(at));
      row.push(bytes.subarray(start, at));
    }
    rows.push(row);
  }
  return rows;
}
