import type { CallOutcome } from '../decoders/call-runner.ts';
import type { DecoderRequest } from '../decoders/decoder-request.ts';
import type { CallRow } from '../measurements/store.ts';
import type { ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { uuidV7 } from '../uuid.ts';
import { credentialsIn, secretMask } from '../decoders/call-secrets.ts';
import { maskedHeaders } from '../decoders/masked-headers.ts';
import { runText } from './run-text.ts';

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
    run: outcome.run === null ? null : runText(outcome.run, secretMask(credentialsIn(request.headers))),
  };
}

/** At most so many bytes of UTF-8, never half a character. */
export function cutText(text: string, bytes: number): string {
  // A UTF-16 unit is at most three bytes.
  if (text.length * 3 <= bytes || Buffer.byteLength(text) <= bytes) return text;
  const cut = Buffer.alloc(bytes);
  const written = cut.write(text.slice(0, bytes), 'utf8');
  return cut.toString('utf8', 0, written);
}
