import type { Columns } from '../ports/store.ts';

/** Of texts whose lengths are not known yet: a megabyte, if they are as long as may be. */
const AT_FIRST = 250;
/** So many times as many as before at most: short texts may be followed by long ones. */
const GROWS = 4;

/** How much of a field is read at a time: numbers by their count, texts by their length. */
export class PageSize {
  readonly #most: number;
  readonly #maxCharacters: number;
  #limit: number;

  constructor(most: { limit: number; maxCharacters: number }, isText: boolean) {
    this.#most = most.limit;
    this.#maxCharacters = most.maxCharacters;
    this.#limit = isText ? Math.min(most.limit, AT_FIRST) : most.limit;
  }

  /** Of the next page, as the store wants it. */
  get limits(): { limit: number; maxCharacters: number } {
    return { limit: this.#limit, maxCharacters: this.#maxCharacters };
  }

  /** Whether there is nothing behind the page that was read with these limits; the next is as large as that one says. */
  isLast({ values }: Columns): boolean {
    let characters = 0;
    for (const value of values) if (typeof value === 'string') characters += value.length;
    const isLast = values.length < this.#limit && characters < this.#maxCharacters;
    const fitting = Math.ceil((this.#maxCharacters * Math.max(1, values.length)) / Math.max(1, characters));
    this.#limit = Math.min(this.#most, this.#limit * GROWS, fitting);
    return isLast;
  }
}
