import { FIELD_IDENTIFIER } from './field.ts';
import { must } from '../../must.ts';

/** Maximum characters of a name that are read: an identifier takes the first 64 that can stand in one. */
const MAX_PATH = 256;
/** Stands for characters that no identifier has; a run of them becomes one `_`. */
const OTHER = ' ';
/**
 * Last code point with a known reduction to letters: none above it is a letter of identifiers or decomposes into one.
 */
const LAST_CODE_POINT = 0x1ffff;
const lettersByCodePoint = new Map<number, string>();

/**
 * The name of a value in a plain object: the keys that lead to it, joined with `_`. Each key is read once, however many
 * values are below it, and a long name of a list is not copied for each entry.
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

  /** The keys as given, joined. */
  get text(): string {
    return (this.#text ??= this.#below(this.#above === null ? '' : this.#above.text, this.#key));
  }

  /**
   * The text as an identifier (CONTRACT 1): `pm2.5` → `pm2_5`, `battery voltage` → `battery_voltage`, `Füllstand` →
   * `Fullstand`; unchanged when it is one already, or when nothing is left of it.
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

/** The identifier for a name, made like that of a plain object's value; null: no character of it can stand in one. */
export function usableIdentifier(name: string): string | null {
  const { identifier } = new NamePath(null, name);
  return FIELD_IDENTIFIER.test(identifier) ? identifier : null;
}

/** The characters of a text that identifiers allow, without accents, and `OTHER` for the rest. */
function lettersOf(text: string): string {
  let letters = '';
  let wasOther = false;
  for (const character of text) {
    const own = lettersOfCharacter(must(character.codePointAt(0)));
    if (own === '' || (wasOther && own === OTHER)) continue;
    wasOther = own === OTHER;
    letters += own;
  }
  return letters;
}

/** Reduces one character and caches it: normalizing is slow, and can make a text eighteen times as long. */
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
