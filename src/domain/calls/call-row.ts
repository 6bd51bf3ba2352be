import type { CallOutcome } from '../decoders/call-runner.ts';
import type { DecoderRequest } from '../decoders/decoder-request.ts';
import type { CallOutcome as OutcomeColumns, CallRow } from '../ports/store.ts';
import type { ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { uuidV7 } from '../text/uuid.ts';
import { credentialsIn, secretMask, type TextMask } from '../decoders/call-secrets.ts';
import { maskedHeaders } from '../decoders/masked-headers.ts';
import { reasonText, runText } from './run-text.ts';
import { storedText } from './stored-values.ts';

/** Status of the answer to a call (CONTRACT 4): 202 says "kept, replay it when the decoder is right". */
export function httpStatusOf({ status }: Pick<CallOutcome, 'status'>): 200 | 202 {
  return status === 'DECODER_FAILED' || status === 'NO_DECODER' ? 202 : 200;
}

/** The call and what became of it, as the log keeps it, under an id of the receipt time; `bodyBytes` at most of the body. */
export function callRow(
  product: ProductInfo,
  request: DecoderRequest,
  outcome: CallOutcome,
  receivedAt: number,
  bodyBytes: number,
  id = uuidV7(receivedAt),
): CallRow {
  const body = cutText(request.body, bodyBytes);
  return {
    id,
    productKey: product.key,
    receivedAt,
    method: request.method,
    path: request.path,
    query: JSON.stringify(request.GET),
    headers: maskedHeaders(request.headers),
    body,
    bodyTruncated: body !== request.body,
    status: outcome.status,
    httpStatus: httpStatusOf(outcome),
    decoderVersion: outcome.run === null ? null : (product.decoder?.version ?? null),
    run: loggedRun(outcome, secretMask(credentialsIn(request.headers))),
    stored: storedText(
      outcome.batches.map(({ batch }) => batch),
      receivedAt,
    ),
  };
}

/** What was run and how it went, or why nothing was, as the log keeps it. Only texts of the decoder's go through `mask`. */
export function loggedRun(
  outcome: Pick<CallOutcome, 'run' | 'reason' | 'copyOf'>,
  mask: TextMask | null = null,
): string | null {
  if (outcome.run !== null) return runText(outcome.run, mask);
  return outcome.reason === null ? null : reasonText(outcome.reason, outcome.copyOf);
}

/** At most so many bytes of UTF-8, never half a character. */
export function cutText(text: string, bytes: number): string {
  // A UTF-16 unit is at most three bytes.
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text;
  const cut = Buffer.alloc(bytes);
  const written = cut.write(text.slice(0, bytes), 'utf8');
  return cut.toString('utf8', 0, written);
}

/** The columns that a replay changes: not the texts of the request. */
export function outcomeColumns({ productKey, id, status, decoderVersion, run, stored }: CallRow): OutcomeColumns {
  return { productKey, id, status, decoderVersion, run, stored };
}
