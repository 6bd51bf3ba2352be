import { shownOutput } from './decoder-output.ts';
import type { DecoderRun, EntryOutcome, RunFailure } from './decoder-run.ts';

const MAX_OUTPUT = 65_536;
const MAX_ENTRIES = 131_072;

/** A finished run, its output still the engine's JSON text (null: none). */
export interface FinishedRun {
  output: string | null;
  console: string[];
  error: RunFailure | null;
  durationMs: number;
  entries: EntryOutcome[];
}

/** The run as JSON text for the call log: 64 KiB of output and 128 KiB of entries at most, the cut is marked. */
export function runText(run: FinishedRun): string {
  const output = run.output ?? 'null';
  const cut = output.length > MAX_OUTPUT;
  let entries = '';
  let written = 0;
  for (; written < run.entries.length && entries.length < MAX_ENTRIES; written += 1)
    entries += (written === 0 ? '' : ',') + JSON.stringify(run.entries[written]);
  return (
    `{"ok":${run.error === null},"output":${cut ? JSON.stringify(`${output.slice(0, MAX_OUTPUT)}…`) : output}` +
    `,"console":${JSON.stringify(run.console)},"error":${JSON.stringify(run.error)}` +
    `,"durationMs":${run.durationMs},"entries":[${entries}],"truncated":${cut || written < run.entries.length}}`
  );
}

/** The JSON texts of the parts of a run's text, by their names; nothing of it is parsed. */
export function runParts(text: string): Map<string, string> {
  const parts = new Map<string, string>();
  for (let at = 1; text[at] === '"';) {
    const nameEnd = text.indexOf('"', at + 1);
    const from = nameEnd + 2;
    const to = endOfValue(text, from);
    parts.set(text.slice(at + 1, nameEnd), text.slice(from, to));
    at = to + 1;
  }
  return parts;
}

/** Where the JSON value that begins there ends. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfString(text, at);
    else if (code === 0x5b || code === 0x7b) depth += 1;
    else if (code === 0x5d || code === 0x7d) {
      if (depth === 0) return at;
      depth -= 1;
    } else if (code === 0x2c && depth === 0) return at;
  }
  return text.length;
}

/** The quote that ends the string which begins with the one there. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === 0x5c) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}

/** A run that is not logged, as clients see it. */
export function toDecoderRun(run: FinishedRun): DecoderRun {
  const { output, ...rest } = run;
  return {
    ...rest,
    ok: run.error === null,
    output: output === null ? null : shownOutput(JSON.parse(output)),
    truncated: false,
  };
}
