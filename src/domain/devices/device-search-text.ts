import type { Dialect } from '../ports/database.ts';
import { foldCase } from '../text/text.ts';

/** Maximum characters of name and serial number in the key that devices are sorted by. */
const MAX_SORTED = 400;
/** Maximum characters of metadata that are searched. */
const MAX_METADATA = 1_000;
/** Stands before what a token limited to fields does not see. */
const MARK = '\u0002';
/** Number of lines before those of the metadata. */
const LINES = 5;

/** The texts of a device that a search looks through, beside its metadata. */
interface Searched {
  name: string;
  serialNumber: string;
  location?: string | null | undefined;
  tags?: readonly string[] | null | undefined;
}

/**
 * The text of `Device.searchText`, in lower case: a line by which devices are sorted, then name, serial number and tags
 * on a line each, and behind a mark the location and the metadata (`metadataText`, `keptMetadata`).
 */
export function deviceSearchText({ name, serialNumber, location, tags }: Searched, metadata: string): string {
  const sorted = `${sortKey(name)}\u0001${sortKey(serialNumber)}`;
  const lines = [sorted, name, serialNumber, (tags ?? []).join('\t'), `${MARK}${oneLine(location ?? '')}`, metadata];
  return foldCase(lines.join('\n'));
}

/** The metadata as lines `key: value`, up to 1,000 characters. */
export function metadataText(metadata: unknown): string {
  const lines: string[] = [];
  let left = MAX_METADATA;
  const add = (key: string, value: unknown): void => {
    if (left <= 0 || value === null || value === undefined) return;
    if (Array.isArray(value)) for (const item of value) add(key, item);
    else if (typeof value === 'object') for (const [name, item] of Object.entries(value)) add(name, item);
    else {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      const line = oneLine(key === '' ? text : `${key}: ${text}`).slice(0, left);
      lines.push(line);
      left -= line.length + 1;
    }
  };
  add('', metadata);
  return lines.join('\n').toWellFormed();
}

/** The metadata in a text of `deviceSearchText`. */
export function keptMetadata(searchText: string): string {
  return searchText.split('\n').slice(LINES).join('\n');
}

/** SQL of the line that devices are sorted by, in the order of its bytes. */
export function sortedLineSql(dialect: Dialect): string {
  return dialect === 'sqlite'
    ? 'substr(d.search_text, 1, instr(d.search_text, char(10)))'
    : `split_part(d.search_text, chr(10), 1) collate "C"`;
}

/** SQL of the lines that are searched; `isLimited`: without location and metadata, which may tell of any field. */
export function searchedLinesSql(dialect: Dialect, isLimited: boolean): string {
  const lines =
    dialect === 'sqlite'
      ? 'substr(d.search_text, instr(d.search_text, char(10)) + 1)'
      : 'substr(d.search_text, strpos(d.search_text, chr(10)) + 1)';
  if (!isLimited) return lines;
  return dialect === 'sqlite' ? `substr(${lines}, 1, instr(${lines}, char(2)) - 1)` : `split_part(${lines}, chr(2), 1)`;
}

/** Sorts numbers by their size: each follows its number of digits; accents come after their letter. */
function sortKey(text: string): string {
  const plain = foldCase(text).normalize('NFD');
  const key = plain.replaceAll(/\d+/g, (digits) => {
    const number = digits.replace(/^0+(?=\d)/, '');
    return number.length < 9 ? `${number.length}${number}` : `9${String(number.length).padStart(3, '0')}${number}`;
  });
  return key.slice(0, MAX_SORTED / 2).toWellFormed();
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\0]+/g, ' ');
}
