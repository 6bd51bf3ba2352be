import type { FieldType } from '../entities/field.ts';
import type { RejectionCode } from '../measurements/entry.ts';
import type { WebhookAnswer } from '../entities/webhook-answer.ts';
import type { DecoderFailure, DecoderFailureKind } from './decoder-engine.ts';

/** Actual or hypothetical outcome of one entry. `device`, `field` and `value` are as the decoder wrote them. */
export interface EntryOutcome {
  /** Position in the decoder's result. */
  index: number;
  device: string | null;
  field: string | null;
  value: unknown;
  /** Milliseconds; for an accepted entry, the time it is stored under. */
  timestamp: number | null;
  /** Reason of the rejection; null: stored, or it would be. */
  code: RejectionCode | null;
  message: string | null;
  /** The way the time of an accepted entry was read, when another may have been meant. */
  notice?: string;
  matchedDeviceId: string | null;
  matchedFieldKey: number | null;
  /** UNKNOWN_FIELD only: the field that would take the entry. */
  suggestedField?: { identifier: string; type: FieldType; name: string | null; unit: string | null };
}

/** Failure of a run; `BODY_TRUNCATED`: a logged call was not run again because the log has cut its body. */
export interface RunFailure extends Omit<DecoderFailure, 'kind'> {
  kind: DecoderFailureKind | 'BODY_TRUNCATED';
}

/** One run of a decoder, as the test tool, the call log and replay show it (contract type DecoderRun). */
export interface DecoderRun {
  ok: boolean;
  /** The decoder's result as JSON; values that JSON cannot hold are text, such as "NaN". */
  output: unknown;
  console: string[];
  error: RunFailure | null;
  durationMs: number;
  entries: EntryOutcome[];
  /** The decoder's answer to the sender; null: the default. */
  answer: WebhookAnswer | null;
  /** True when output or entries were cut, being too long for the call log. */
  truncated: boolean;
}
