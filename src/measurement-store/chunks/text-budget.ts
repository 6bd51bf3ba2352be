import { AppError } from '../../errors.ts';
import type { StoredValue } from '../../domain/measurements/store.ts';

/** A million and a half places, or three years of them at one a minute: 32 MB, twice that beyond Latin-1. */
const MAX_CHARACTERS = 32_000_000;

/**
 * Texts that are in memory at once to answer for one device (CONTRACT 7, Shares): compressed they may be a thousandth of
 * it, so what is on the disk says little.
 */
export class TextBudget {
  #left = MAX_CHARACTERS;

  /** What was decoded in one piece, in which equal texts are in memory once. QUERY_TOO_COMPLEX beyond the budget. */
  spend(values: Float64Array | readonly StoredValue[]): void {
    if (values instanceof Float64Array) return;
    let characters = 0;
    for (const value of new Set(values)) if (typeof value === 'string') characters += value.length;
    this.spendCharacters(characters);
  }

  /** The same for so many characters. */
  spendCharacters(characters: number): void {
    this.#left -= characters;
    if (this.#left >= 0) return;
    throw new AppError(
      'QUERY_TOO_COMPLEX',
      `The texts of this range are more than ${MAX_CHARACTERS} characters. Ask for a shorter range or for fewer fields; ` +
        'page values with "measurements", or export them.',
      { details: { limit: 'characters', allowed: MAX_CHARACTERS } },
    );
  }
}
