import { bytesOf, characterAt } from './charsets.ts';
import { must } from '../../must.ts';

/** Escaped bytes beyond ASCII in a row. */
const OTHER_BYTES = /(?:%[89a-f][0-9a-f])+/gi;
/** A name without `=`. */
const BARE_NAME = /(?<=^|&)[^&=]+(?=&|$)/g;

/**
 * The names and values of a query or form (`+` is a blank, a name without `=` has the value "", a byte that is not
 * UTF-8 is the character with its number). Adds the missing `=` itself: Node's time for names without it grows with the
 * square of their number.
 */
export function parametersIn(text: string): URLSearchParams {
  // Drop the leading `?`, as URLSearchParams would.
  const query = text.startsWith('?') ? text.slice(1) : text;
  const all = `?${query.replace(BARE_NAME, '$&=').replace(OTHER_BYTES, inUtf8)}`;
  // Node throws and catches an error for each percent sign that begins no byte; collecting stack traces would dominate.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return new URLSearchParams(all);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** The form encoding of the character with the number of a byte, by that number. */
const CHARACTERS = Array.from({ length: 256 }, (_, byte) => encodeURIComponent(String.fromCharCode(byte)));

/** Decodes without a buffer per run: a form may have hundreds of thousands of short ones. */
function inUtf8(run: string): string {
  if (run.length === 3) return must(CHARACTERS[hexAt(run, 1)]);
  const bytes = Array.from({ length: run.length / 3 }, (_, at) => hexAt(run, 3 * at + 1));
  let text = '';
  let isWhole = true;
  for (let at = 0; at < bytes.length;) {
    const code = characterAt(bytes, at);
    const end = at + (code < 0 ? 1 : bytesOf(code));
    text += code < 0 ? CHARACTERS[must(bytes[at])] : run.slice(3 * at, 3 * end);
    isWhole &&= code >= 0;
    at = end;
  }
  return isWhole ? run : text;
}

/** The number of two hexadecimal digits. */
function hexAt(text: string, at: number): number {
  return 16 * digit(text.charCodeAt(at)) + digit(text.charCodeAt(at + 1));
}

function digit(code: number): number {
  return code <= 0x39 ? code - 0x30 : (code | 0x20) - 0x57;
}

/** An upper bound for the number of names in a form. */
export function mostNamesIn(form: string): number {
  let names = 1;
  for (let at = form.indexOf('&'); at !== -1; at = form.indexOf('&', at + 1)) names += 1;
  return names;
}
