import { shownOutput } from './decoder-output.ts';
import type { WebhookAnswer } from '../entities/webhook-answer.ts';
import type { DecoderRun, EntryOutcome, RunFailure } from './decoder-run.ts';

/** A finished run, its output still the engine's JSON text (null: none). */
export interface FinishedRun {
  output: string | null;
  console: string[];
  error: RunFailure | null;
  durationMs: number;
  entries: EntryOutcome[];
  /** The decoder's answer to the sender; null: the default. */
  answer: WebhookAnswer | null;
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
