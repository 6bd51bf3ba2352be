import { FIELD_IDENTIFIER } from './field.ts';

/** Identifiers are made of the first 64 letters that can stand in one. */
const MAX_PATH = 256;
/** What no identifier has; a row of it makes one `_`. */
const OTHER = ' ';
/** Beyond it are no letters of identifiers, nor anything that is made of them. */
const LAST_CODE_POINT = 0x1ffff;
const lettersByCodePoint = new Map<number, string>();

/**
 * The name of a value in a plain object: the keys that lead to it, joined with `_`. Each key is read once, however many
 * values stand below it, and a list of thousands under a name that is as long as a body does not copy that again and again.
 */
export class NamePath {
  readonly #above: NamePath | null;
  readonly #key: string;
  #text: string | null = null;
  #letters: string | null = null;

  constructor(above: NamePath | null, key: string) {
    this.#above = above;
    this.#key = key.slice(0, MAX_PATH);
  }

  /** As it was said. */
  get text(): string {
    return (this.#text ??= this.#below(this.#above === null ? '' : this.#above.text, this.#key));
  }

  /**
   * Made an identifier (CONTRACT 1): `pm2.5` → `pm2_5`, `battery voltage` → `battery_voltage`, `Füllstand` →
   * `Fullstand`; as it was said when that is one, or when nothing is left of it.
   */
  get identifier(): string {
    if (FIELD_IDENTIFIER.test(this.text)) return this.text;
    const plain = this.#plain
      .replace(/ +/g, '_')
      .replace(/^_+|(?<!_)_+$/g, '')
      .slice(0, 64);
    return plain === '' ? this.text : plain;
  }

  get #plain(): string {
    return (this.#letters ??= this.#below(this.#above === null ? '' : this.#above.#plain, lettersOf(this.#key)));
  }

  #below(above: string, own: string): string {
    return this.#above === null || this.#above.text === '' ? own : `${above}_${own}`.slice(0, MAX_PATH);
  }
}

/** The identifier that stands for a name, as a plain object's is made one; null: nothing of it can stand in one. */
export function usableIdentifier(name: string): string | null {
  const { identifier } = new NamePath(null, name);
  return FIELD_IDENTIFIER.test(identifier) ? identifier : null;
}

/** What identifiers can have of a text, without its accents, and `OTHER` for the rest. */
function lettersOf(text: string): string {
  let letters = '';
  let wasOther = false;
  for (const character of text) {
    const own = lettersOfCharacter(character.codePointAt(0)!);
    if (own === '' || (wasOther && own === OTHER)) continue;
    wasOther = own === OTHER;
    letters += own;
  }
  return letters;
}

/** Kept for each: to normalize a text takes long, and can make it eighteen times as long. */
function lettersOfCharacter(codePoint: number): string {
  if (codePoint > LAST_CODE_POINT) return OTHER;
  let letters = lettersByCodePoint.get(codePoint);
  if (letters === undefined) {
    const parts = String.fromCodePoint(codePoint).normalize('NFKD').replace(/\p{M}/gu, '');
    letters = parts.replace(/[^A-Za-z0-9_-]+/g, OTHER);
    lettersByCodePoint.set(codePoint, letters);
  }
  return letters;
}
