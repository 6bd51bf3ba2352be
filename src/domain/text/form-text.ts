import { bytesOf, characterAt } from './charsets.ts';

/** Bytes beyond ASCII that follow one another. */
const OTHER_BYTES = /(?:%[89a-f][0-9a-f])+/gi;
/** A name that no `=` follows. */
const BARE_NAME = /(?<=^|&)[^&=]+(?=&|$)/g;

/**
 * The names and values of a query or form (`+` is a blank, a name without `=` has the value "", a byte that is not UTF-8
 * is the character with its number). Node takes the square of
 * the time for names without `=`: 2.7 s for a megabyte.
 */
export function parametersIn(text: string): URLSearchParams {
  // It drops one itself, which is no part of a name.
  const query = text.startsWith('?') ? text.slice(1) : text;
  const all = `?${query.replace(BARE_NAME, '$&=').replace(OTHER_BYTES, inUtf8)}`;
  // A percent sign that begins no byte is an error to Node, which it catches: with the places of each in the code four kilobytes take 10 ms.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return new URLSearchParams(all);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** The character with the number of a byte, by that number, as a form writes it. */
const CHARACTERS = Array.from({ length: 256 }, (_, byte) => encodeURIComponent(String.fromCharCode(byte)));

/** Without a buffer for each run: of short ones a form has hundreds of thousands. */
function inUtf8(run: string): string {
  if (run.length === 3) return CHARACTERS[hexAt(run, 1)]!;
  const bytes = Array.from({ length: run.length / 3 }, (_, at) => hexAt(run, 3 * at + 1));
  let text = '';
  let isWhole = true;
  for (let at = 0; at < bytes.length;) {
    const code = characterAt(bytes, at);
    const end = at + (code < 0 ? 1 : bytesOf(code));
    text += code < 0 ? CHARACTERS[bytes[at]!] : run.slice(3 * at, 3 * end);
    isWhole &&= code >= 0;
    at = end;
  }
  return isWhole ? run : text;
}

/** The number that two hexadecimal digits write. */
function hexAt(text: string, at: number): number {
  return 16 * digit(text.charCodeAt(at)) + digit(text.charCodeAt(at + 1));
}

function digit(code: number): number {
  return code <= 0x39 ? code - 0x30 : (code | 0x20) - 0x57;
}

/** How many names a form has at most. */
export function mostNamesIn(form: string): number {
  let names = 1;
  for (let at = form.indexOf('&'); at !== -1; at = form.indexOf('&', at + 1)) names += 1;
  return names;
}
