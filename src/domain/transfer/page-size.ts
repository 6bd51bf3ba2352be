import type { Columns } from '../ports/store.ts';

/** First page of texts with unknown lengths: a megabyte, if they are of maximum length. */
const AT_FIRST = 250;
/** Maximum growth from page to page: short texts may be followed by long ones. */
const GROWS = 4;

/** Size of pages: numbers by their count, texts by their length. */
export class PageSize {
  readonly #most: number;
  readonly #maxCharacters: number;
  #limit: number;

  constructor(most: { limit: number; maxCharacters: number }, isText: boolean) {
    this.#most = most.limit;
    this.#maxCharacters = most.maxCharacters;
    this.#limit = isText ? Math.min(most.limit, AT_FIRST) : most.limit;
  }

  /** Limits of the next page, as the store takes them. */
  get limits(): { limit: number; maxCharacters: number } {
    return { limit: this.#limit, maxCharacters: this.#maxCharacters };
  }

  /** True when no values follow the page that was read with these limits; otherwise sets the size of the next. */
  isLast({ values }: Columns): boolean {
    let characters = 0;
    for (const value of values) if (typeof value === 'string') characters += value.length;
    const isLast = values.length < this.#limit && characters < this.#maxCharacters;
    const fitting = Math.ceil((this.#maxCharacters * Math.max(1, values.length)) / Math.max(1, characters));
    this.#limit = Math.min(this.#most, this.#limit * GROWS, fitting);
    return isLast;
  }
}
