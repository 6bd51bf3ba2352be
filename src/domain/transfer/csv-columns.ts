import { badInput } from '../../errors.ts';
import { NameIndex } from '../text/name-index.ts';
import type { CsvRecord } from './csv-reader.ts';
import type { Delimiter } from './csv-head.ts';
import { listed, probablyMeant, quoted, type Role } from './headings.ts';
import { must } from '../../must.ts';

/** The roles of a CSV's columns; -1: absent. */
export interface CsvColumns {
  device: number;
  timestamp: number;
  /** Both present in the long layout only. */
  field: number;
  value: number;
  /** True for columns beside those of the long layout, or variants of their names: they may be fields. */
  mayBeWide: boolean;
  /** Names without surrounding blanks; empty for a column that is left out. */
  names: string[];
  /** Positions of the columns that are left out. */
  leftOut: ReadonlySet<number>;
  /** Names that differ in more than case. */
  distinct: NameIndex;
  delimiter: Delimiter;
}

/**
 * Reads the headings of a CSV. Surrounding blanks are ignored, and so is the case of `device`, `timestamp`, `field` and
 * `value`. `given`: other names for headings. Throws BAD_USER_INPUT that shows the headings as they were read, and which
 * may be meant.
 */
export function columnsOf(
  { cells, line }: CsvRecord,
  delimiter: Delimiter,
  given: ReadonlyMap<string, string> = new Map(),
): CsvColumns {
  // Reject: otherwise the whole file is one line, and its values are silently lost.
  if (cells.some((cell) => cell.includes('\r')))
    throw badInput(
      `Line ${line} has a carriage return in it: lines must end with a line feed (LF or CRLF), not with CR alone.`,
    );
  const headings = cells.map((cell) =>
    cell
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .trim(),
  );
  for (const heading of given.keys())
    if (!headings.includes(heading))
      throw badInput(`columns: the file has no column ${quoted(heading)}. It was read as ${listed(headings)}.`);
  const names = headings.map((heading) => given.get(heading) ?? heading);
  const leftOut = new Set([...headings.keys()].filter((at) => given.get(must(headings[at])) === ''));
  const timestamp = columnOf(names, 'timestamp', line);
  if (timestamp < 0) throw badInput(withoutTime(headings, line));
  const device = columnOf(names, 'device', line);
  checkTwice(names, line, { device, timestamp });
  const [field, value] = [columnOf(names, 'field', line), columnOf(names, 'value', line)];
  const isLong = field >= 0 && value >= 0;
  const isExact =
    names[field] === 'field' && names[value] === 'value' && names.length - leftOut.size === (device < 0 ? 3 : 4);
  const roles = isLong ? { device, timestamp, field, value } : { device, timestamp, field: -1, value: -1 };
  return { ...roles, mayBeWide: isLong && !isExact, names, leftOut, distinct: new NameIndex(names), delimiter };
}

/** The first column with exactly this name, else the only one that differs in case. */
function columnOf(names: string[], role: Role, line: number): number {
  const exact = names.indexOf(role);
  if (exact >= 0) return exact;
  const alike = names.filter((name) => name.toLowerCase() === role);
  if (alike.length > 1)
    throw badInput(`Line ${line}: the columns ${listed(alike)} may each be "${role}"; call one of them "${role}".`);
  return names.findIndex((name) => name.toLowerCase() === role);
}

/**
 * Rejects duplicate headings. A wide export begins with `device,timestamp`; a later column of one of these names is a
 * field.
 */
function checkTwice(names: string[], line: number, { device, timestamp }: { device: number; timestamp: number }): void {
  const isExport = device === 0 && timestamp === 1;
  const seen = new Set<string>();
  for (const [at, name] of names.entries()) {
    if (name === '' || (isExport && at < 2)) continue;
    if (seen.has(name))
      throw badInput(
        `Line ${line} has the column ${quoted(name)} twice, so that one would overwrite the other: leave out one of them, or rename it. It was read as ${listed(names)}.`,
      );
    seen.add(name);
  }
}

function withoutTime(names: string[], line: number): string {
  return (
    `Line ${line} must name the columns, and one of them must be "timestamp". It was read as ${listed(names)}. ` +
    `${probablyMeant(names)}Expected device,field,timestamp,value or device,timestamp,<field>,…, with commas, ` +
    'semicolons or tabs between.'
  );
}
