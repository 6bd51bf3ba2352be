const [QUOTE, LINE_FEED] = [34, 10];

/** Finds the ends of records in a CSV that arrives in pieces: the line breaks outside of quotes. */
export class CsvEnds {
  readonly #delimiter: number;
  #isQuoted = false;
  /**
   * True where a quote would open: at the begin of a cell, and behind a closing quote, which then was the first of two.
   */
  #mayOpen = true;
  #cells = 1;

  /** `delimiter`: one character between cells. */
  constructor(delimiter: string) {
    this.#delimiter = delimiter.charCodeAt(0);
  }

  /** True inside quotes. */
  get isQuoted(): boolean {
    return this.#isQuoted;
  }

  /** Number of cells so far in the record that has not ended. */
  get cells(): number {
    return this.#cells;
  }

  /** Ends within the next piece. */
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
