import type { FileHead } from './file-head.ts';
import { REASON } from './guess-columns.ts';
import type { RefusedLine } from './import-run.ts';

/** The refused lines as a file that can be mended and imported: the headings, the lines, and the reasons behind them. */
export function refusedFile({ kind, delimiter, headingText }: FileHead, lines: readonly RefusedLine[]): Blob {
  if (kind === 'ndjson') return new Blob([lines.map(({ record }) => ended(record)).join('')], { type: 'text/plain' });
  const rows = lines.map(({ record, reasons }) => `${bare(record)}${delimiter}${quoted(reasons.join(' '))}\n`);
  const heading = `${bare(headingText)}${delimiter}${REASON}\n`;
  // The mark tells a spreadsheet that it is UTF-8.
  return new Blob(['\uFEFF', heading, ...rows], { type: 'text/csv;charset=utf-8' });
}

function bare(record: string): string {
  return record.replace(/\r?\n?$/, '');
}

function ended(record: string): string {
  return `${bare(record)}\n`;
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
