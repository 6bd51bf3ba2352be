import { StoredJson } from './stored-json.ts';

/** Stored JSON that is shown otherwise than it is stored. */
export class ShownJson extends StoredJson {
  readonly #shown: (value: unknown) => unknown;

  /** `shown`: what is shown of what was parsed. */
  constructor(text: string, shown: (value: unknown) => unknown) {
    super(text);
    this.#shown = shown;
  }

  override toJSON(): unknown {
    return this.#shown(super.toJSON());
  }
}
