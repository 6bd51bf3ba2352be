/**
 * Stored JSON that is shown in another form than it is stored. Not a `StoredJson`: its text would go into large answers
 * as it is, and here there are secrets in it.
 */
export class ShownJson {
  /** Its length counts (`answer-size.ts`). */
  readonly text: string;
  readonly #shown: (value: unknown) => unknown;

  /** `shown` turns the parsed value into what clients see. */
  constructor(text: string, shown: (value: unknown) => unknown) {
    this.text = text;
    this.#shown = shown;
  }

  toJSON(): unknown {
    return this.#shown(JSON.parse(this.text));
  }
}
