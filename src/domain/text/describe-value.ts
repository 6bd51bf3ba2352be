import { REFUSED_BYTES } from './charsets.ts';

const HALF = /\p{Surrogate}/gu;

/** A value as messages show it: texts quoted and cut, anything else by its kind. Never runs code of the value. */
export function describe(value: unknown): string {
  if (typeof value === 'string') return `"${shown(value)}"`;
  if (typeof value === 'bigint') return `${shown(String(value))}n`;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : kindOf(value);
}

/** The kind of a value, with its article. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (value instanceof Date) return 'an invalid Date';
  return Array.isArray(value) ? 'an array' : `a${/^[aeiou]/.test(typeof value) ? 'n' : ''} ${typeof value}`;
}

/** A text as messages show it: its first 64 characters; characters that UTF-8 cannot write are shown by number. */
export function shown(text: string): string {
  return printable(text.length > 64 ? `${text.slice(0, 64)}…` : text);
}

/** The text around the first half of a surrogate pair, quoted. */
export function brokenPlace(text: string): string {
  const at = text.search(HALF);
  const from = Math.max(0, at - 30);
  return `"${from > 0 ? '…' : ''}${shown(text.slice(from))}"`;
}

function printable(text: string): string {
  return text.isWellFormed()
    ? text
    : text.replace(HALF, (half) => {
        const code = half.charCodeAt(0);
        return code >= REFUSED_BYTES + 0x80 && code <= REFUSED_BYTES + 0xff
          ? `\\x${(code - REFUSED_BYTES).toString(16)}`
          : `\\u${code.toString(16)}`;
      });
}
