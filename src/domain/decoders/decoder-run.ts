import type { FieldType } from '../entities/field.ts';
import type { RejectionCode } from '../measurements/entry.ts';
import type { WebhookAnswer } from '../entities/webhook-answer.ts';
import type { DecoderFailure, DecoderFailureKind } from './decoder-engine.ts';

/** What became of one entry, or would become of it. `device`, `field` and `value` are as the decoder wrote them. */
export interface EntryOutcome {
  /** Position in what the decoder returned. */
  index: number;
  device: string | null;
  field: string | null;
  value: unknown;
  /** Milliseconds; of an accepted entry the time it is stored under. */
  timestamp: number | null;
  /** null: stored, or it would be. */
  code: RejectionCode | null;
  message: string | null;
  /** Of an accepted entry: how its time was read, where somebody may have meant another. */
  notice?: string;
  matchedDeviceId: string | null;
  matchedFieldKey: number | null;
  /** Of an UNKNOWN_FIELD: the field that would take the entry. */
  suggestedField?: { identifier: string; type: FieldType; name: string | null; unit: string | null };
}

/** Why a run failed; `BODY_TRUNCATED`: a logged call was not run again because the log has cut its body. */
export interface RunFailure extends Omit<DecoderFailure, 'kind'> {
  kind: DecoderFailureKind | 'BODY_TRUNCATED';
}

/** One run of a decoder, as the test tool, the call log and replay show it (contract type DecoderRun). */
export interface DecoderRun {
  ok: boolean;
  /** What the decoder returned as JSON; what JSON cannot say is text, such as "NaN". */
  output: unknown;
  console: string[];
  error: RunFailure | null;
  durationMs: number;
  entries: EntryOutcome[];
  /** What the decoder would have its sender answered; null: as it comes. */
  answer: WebhookAnswer | null;
  /** Output or entries were too long for the call log and are cut there. */
  truncated: boolean;
}
