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

/** The run of a row of the call log, as clients see it. */
export function parseRun(text: string): DecoderRun {
  const run = JSON.parse(text) as DecoderRun;
  return { ...run, output: shownOutput(run.output) };
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
