import { cellsOf, RecordEnds } from './record-ends.ts';

/** The begin of a file of values: its kind, its columns, and its first records. */
export interface FileHead {
  kind: 'csv' | 'ndjson';
  /** Between cells of a CSV. */
  delimiter: string;
  /** The headings of a CSV, or the keys of the first lines. */
  headings: readonly string[];
  /** The record of the headings as it stands in the file, with its line break; empty for NDJSON. */
  headingText: string;
  /** The first characters before the records. */
  skipped: number;
  /** Line of the first record, from 1. */
  firstLine: number;
  /** The first records as they stand in the file. */
  records: readonly string[];
}

/** Maximum records of a head. */
const MAX_RECORDS = 20;
const DELIMITERS = [',', ';', '\t'];
const SAID = /^\s*"?sep=([^"\r\n])"?\s*$/i;

/** Reads the begin of a file: `text` has its first characters; `isWhole`: they are all. null: it has no records. */
export function readHead(text: string, isWhole: boolean): FileHead | null {
  return /^\s*\{/.test(text) ? headOfLines(text, isWhole) : headOfCsv(text, isWhole);
}

function headOfLines(text: string, isWhole: boolean): FileHead | null {
  const records = recordsIn(text, null, isWhole);
  const keys = new Set<string>();
  for (const record of records) for (const key of keysOf(record)) keys.add(key);
  const rest = { delimiter: '', headingText: '', skipped: 0, firstLine: 1 };
  return records.length === 0 ? null : { kind: 'ndjson', headings: [...keys], records, ...rest };
}

function keysOf(line: string): string[] {
  try {
    return Object.keys(JSON.parse(line) as object);
  } catch {
    return [];
  }
}

/** Skips empty lines, comments and `sep=;`, as the server does. */
function headOfCsv(text: string, isWhole: boolean): FileHead | null {
  let [at, line] = [0, 1];
  let said: string | null = null;
  for (;;) {
    const end = text.indexOf('\n', at);
    const first = text.slice(at, end < 0 ? text.length : end);
    const found = SAID.exec(first)?.[1];
    if (found === undefined && !first.startsWith('#') && first.trim() !== '') break;
    if (end < 0) return null;
    said = found ?? said;
    at = end + 1;
    line += 1;
  }
  const delimiter = said ?? delimiterOf(text.slice(at));
  const [headingText = '', ...records] = recordsIn(text.slice(at), delimiter, isWhole, MAX_RECORDS + 1);
  const lines = linesIn(headingText);
  const headings = cellsOf(headingText, delimiter).map((cell) => cell.trim());
  if (headingText === '' || records.length === 0) return null;
  const skipped = at + headingText.length;
  return { kind: 'csv', delimiter, headings, headingText, skipped, firstLine: line + lines, records };
}

function recordsIn(text: string, delimiter: string | null, isWhole: boolean, most = MAX_RECORDS): string[] {
  const records: string[] = [];
  let from = 0;
  for (const end of new RecordEnds(delimiter).in(text)) {
    if (records.length === most) return records;
    records.push(text.slice(from, end + 1));
    from = end + 1;
  }
  if (isWhole && records.length < most && from < text.length) records.push(text.slice(from));
  return records;
}

/** The delimiter that the first line has most of, outside of quotes. */
function delimiterOf(text: string): string {
  const [line = ''] = text.split('\n', 1);
  const bare = line.replace(/"[^"]*"/g, '');
  const counts = DELIMITERS.map((delimiter) => bare.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

/** Number of lines that a record takes. */
export function linesIn(record: string): number {
  let lines = record.endsWith('\n') ? 0 : 1;
  for (let at = record.indexOf('\n'); at >= 0; at = record.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
