const [QUOTE, LINE_FEED] = [34, 10];

/** Finds the ends of records in a text that comes in pieces: its line breaks, in a CSV those outside of quotes. */
export class RecordEnds {
  /** The code of the character between cells; null: lines without quotes, as of NDJSON. */
  readonly #delimiter: number | null;
  #isQuoted = false;
  #mayOpen = true;

  constructor(delimiter: string | null) {
    this.#delimiter = delimiter === null ? null : delimiter.charCodeAt(0);
  }

  /** Positions of the line breaks of the next piece that end a record. */
  in(piece: string): number[] {
    const ends: number[] = [];
    for (let at = 0; at < piece.length; at += 1) {
      const code = piece.charCodeAt(at);
      if (code === QUOTE && this.#mayOpen && this.#delimiter !== null) this.#isQuoted = !this.#isQuoted;
      if (this.#isQuoted) continue;
      // A quote opens at the begin of a cell, or behind a closing one, which then was the first of two.
      this.#mayOpen = code === this.#delimiter || code === LINE_FEED || (code === QUOTE && this.#mayOpen);
      if (code === LINE_FEED) ends.push(at);
    }
    return ends;
  }
}

/** The cells of one record of a CSV, without its quotes. */
export function cellsOf(record: string, delimiter: string): string[] {
  const text = record.replace(/\r?\n?$/, '');
  const cells: string[] = [];
  for (let at = 0; at <= text.length; at += 1) {
    if (text[at] !== '"') {
      const end = text.indexOf(delimiter, at);
      cells.push(text.slice(at, end < 0 ? text.length : end));
      at = end < 0 ? text.length : end;
      continue;
    }
    let end = text.indexOf('"', at + 1);
    while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
    if (end < 0) end = text.length;
    cells.push(text.slice(at + 1, end).replaceAll('""', '"'));
    at = end + 1;
  }
  return cells;
}
