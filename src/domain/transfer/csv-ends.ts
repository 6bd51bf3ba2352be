const [QUOTE, LINE_FEED] = [34, 10];

/** Finds where the records of a CSV end that comes in pieces: at the line breaks outside of quotes. */
export class CsvEnds {
  readonly #delimiter: number;
  #isQuoted = false;
  /** Whether a quote would open: where a cell begins, and behind one that closed, which then was the first of two. */
  #mayOpen = true;
  #cells = 1;

  /** `delimiter`: one character, which stands between cells. */
  constructor(delimiter: string) {
    this.#delimiter = delimiter.charCodeAt(0);
  }

  /** Whether a quote is open. */
  get isQuoted(): boolean {
    return this.#isQuoted;
  }

  /** How many cells the record has so far that has not ended. */
  get cells(): number {
    return this.#cells;
  }

  /** Those of the next piece. */
  readonly in = (piece: string): number[] => {
    const ends: number[] = [];
    const delimiter = this.#delimiter;
    let [isQuoted, mayOpen, cells] = [this.#isQuoted, this.#mayOpen, this.#cells];
    for (let at = 0; at < piece.length; at += 1) {
      const code = piece.charCodeAt(at);
      if (code === QUOTE && mayOpen) isQuoted = !isQuoted;
      if (isQuoted) continue;
      mayOpen = code === delimiter || code === LINE_FEED || (code === QUOTE && mayOpen);
      if (code === delimiter) cells += 1;
      if (code !== LINE_FEED) continue;
      ends.push(at);
      cells = 1;
    }
    [this.#isQuoted, this.#mayOpen, this.#cells] = [isQuoted, mayOpen, cells];
    return ends;
  };
}
