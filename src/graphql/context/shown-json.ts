/**
 * Stored JSON that is shown otherwise than it is stored. No `StoredJson`: that one's text goes into large answers as it is,
 * and here there are secrets in it.
 */
export class ShownJson {
  /** How long it is counts (`answer-size.ts`). */
  readonly text: string;
  readonly #shown: (value: unknown) => unknown;

  /** `shown`: what is shown of what was parsed. */
  constructor(text: string, shown: (value: unknown) => unknown) {
    this.text = text;
    this.#shown = shown;
  }

  toJSON(): unknown {
    return this.#shown(JSON.parse(this.text));
  }
}
