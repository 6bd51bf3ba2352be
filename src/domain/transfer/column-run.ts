import type { Cell, ExportedValue } from './export-format.ts';

/** Some values of a field in time order. */
export interface ColumnPage {
  timestamps: number[];
  values: ExportedValue[];
}

/** One column of the wide layout, with a page of it in memory. */
export class ColumnRun implements Cell {
  readonly column: number;
  readonly #pages: AsyncGenerator<ColumnPage>;
  #page: ColumnPage = { timestamps: [], values: [] };
  #at = 0;

  constructor(column: number, pages: AsyncGenerator<ColumnPage>) {
    this.column = column;
    this.#pages = pages;
  }

  /** Time of the next value; Infinity: none is left. */
  get time(): number {
    return this.#page.timestamps[this.#at] ?? Infinity;
  }

  get value(): ExportedValue {
    return this.#page.values[this.#at] as ExportedValue;
  }

  /** Moves to the next value; false: the page is used up, and `advance` loads the next. */
  step(): boolean {
    this.#at += 1;
    return this.#at < this.#page.timestamps.length;
  }

  async advance(): Promise<void> {
    const next = await this.#pages.next();
    this.#page = next.done ? { timestamps: [], values: [] } : next.value;
    this.#at = 0;
  }

  async end(): Promise<void> {
    await this.#pages.return(undefined);
  }
}
