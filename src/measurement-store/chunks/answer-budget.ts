import { AppError } from '../../errors.ts';
import type { StoredValue } from '../../domain/ports/store.ts';

/** Maximum characters per answer: 32 MB, twice that beyond Latin-1. */
const MAX_CHARACTERS = 32_000_000;
/** Maximum values per answer: 160 MB when they go into chunks. */
const MAX_VALUES = 5_000_000;

/** Part of a budget from which an answer is large. */
const LARGE = 1 / 8;

/** Ends with the last of the large answers of this thread. */
let lastLarge: Promise<void> = Promise.resolve();

/**
 * Bounds the memory of an answer for one device (CONTRACT 7, Shares). Beyond the budget it is QUERY_TOO_COMPLEX; of
 * large answers a thread makes one at a time.
 */
export class AnswerBudget {
  #characters = MAX_CHARACTERS;
  #values = MAX_VALUES;
  #room: Promise<void> | null = null;
  #leave = (): void => {};

  /**
   * Counts values decoded in one piece, in which equal texts are in memory once: compressed they may be a thousandth of
   * it, so their bytes on the disk say little.
   */
  spendTexts(values: Float64Array | readonly StoredValue[]): void {
    if (values instanceof Float64Array) return;
    let characters = 0;
    for (const value of new Set(values)) if (typeof value === 'string') characters += value.length;
    this.#spendCharacters(characters);
  }

  /** Counts a value of a reading. */
  spendValue(value: StoredValue): void {
    if (typeof value === 'string') this.#spendCharacters(value.length);
    this.#values -= 1;
    if (this.#values < 0)
      tooMuch(
        'values',
        MAX_VALUES,
        `More than ${MAX_VALUES} values of this range were written within about the last hour, sent or imported, whatever time they are of, and have yet to be packed`,
        ' In an hour or two the whole range can be read.',
      );
  }

  /** Waits for the room that the answer needs by now; it is there until `end`. */
  async room(): Promise<void> {
    const isLarge = this.#characters < MAX_CHARACTERS * (1 - LARGE) || this.#values < MAX_VALUES * (1 - LARGE);
    if (isLarge) await (this.#room ??= this.#enter());
  }

  /** Gives the room to others. */
  end(): void {
    this.#leave();
  }

  #enter(): Promise<void> {
    const before = lastLarge;
    const mine = new Promise<void>((resolve) => (this.#leave = resolve));
    lastLarge = before.then(() => mine);
    return before;
  }

  #spendCharacters(characters: number): void {
    this.#characters -= characters;
    if (this.#characters < 0)
      tooMuch('characters', MAX_CHARACTERS, `The texts of this range are more than ${MAX_CHARACTERS} characters`);
  }
}

function tooMuch(limit: string, allowed: number, what: string, orLater = ''): never {
  throw new AppError(
    'QUERY_TOO_COMPLEX',
    `${what}. Ask for a shorter range or for fewer fields; page values with "measurements", or export them.${orLater}`,
    { details: { limit, allowed } },
  );
}
