import { javascriptLanguage } from '@codemirror/lang-javascript';

/** A printed line, and the line of the source that printed it; null: unknown. */
export interface PrintedLine {
  text: string;
  line: number | null;
}

/** A source whose prints tell their line. */
interface TracedSource {
  source: string;
  /** The column in the original source for one in `source`; both from 1. */
  columnOf: (line: number, column: number) => number;
}

/** A private-use character that marks line numbers. */
const MARK = '\uE000';
const MARKED = new RegExp(`^${MARK}(\\d+)$`, 'u');
const TRACED = /^(?:log|dir|table|group|groupCollapsed|info|warn|error|debug|trace)$/;
/** Maximum characters that the server surely allows. */
const MAX_SOURCE = 250_000;

/**
 * Makes a source print the line number before each line it prints, as the API returns output without positions:
 * `console.log(x)` becomes `console[(console.log("<mark>12"),"log")](x)`, which begins with the same word and stays on
 * its line. Only the trial uses it; the saved source is unchanged.
 */
export function traceConsole(source: string): TracedSource {
  const lines = source.split('\n');
  const starts: number[] = [];
  for (let at = 0, line = 0; line < lines.length; at += lines[line]!.length + 1, line += 1) starts.push(at);
  const added: { line: number; column: number; grown: number }[] = [];
  let traced = '';
  let done = 0;
  javascriptLanguage.parser.parse(source).iterate({
    enter: ({ name, node, from, to }) => {
      if (name !== 'MemberExpression' || node.parent?.name !== 'CallExpression') return;
      const call = /^console(\s*\.\s*)(\w+)$/.exec(source.slice(from, to));
      if (call === null || !TRACED.test(call[2]!)) return;
      const start = from + 'console'.length;
      const line = lineAt(starts, start);
      const insertion = `[(console.log("${MARK}${line + 1}"),"${call[2]}")]`;
      // Skip calls with line breaks: lines would move.
      if (call[1]!.includes('\n')) return;
      traced += source.slice(done, start) + insertion;
      added.push({ line: line + 1, column: start - starts[line]! + 1, grown: insertion.length - (to - start) });
      done = to;
    },
  });
  traced += source.slice(done);
  if (traced.length > MAX_SOURCE) return { source, columnOf: (_line, column) => column };
  const columnOf = (line: number, column: number): number => {
    let grown = 0;
    for (const one of added)
      if (one.line === line && one.column + grown < column) grown += Math.min(one.grown, column - one.column - grown);
    return column - grown;
  };
  return { source: traced, columnOf };
}

/** The lines that a traced source printed, with their positions. */
export function readTraced(lines: readonly string[]): PrintedLine[] {
  const waiting: number[] = [];
  const read: PrintedLine[] = [];
  for (const text of lines) {
    const mark = MARKED.exec(text);
    if (mark !== null) waiting.push(Number(mark[1]));
    // Assertions have no line number, as most of them print nothing.
    else read.push({ text, line: /^assert: |^… console cut at /.test(text) ? null : (waiting.pop() ?? null) });
  }
  return read;
}

function lineAt(starts: readonly number[], at: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}
