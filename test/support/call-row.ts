import type { CallRow } from '../../src/domain/ports/store.ts';
import { uuidV7 } from '../../src/domain/text/uuid.ts';

/** A logged call as the store has it: one that no decoder ran on, unless `more` says otherwise. */
export function callRow(productKey: number, receivedAt: number, more: Partial<CallRow> = {}): CallRow {
  return {
    id: uuidV7(receivedAt),
    productKey,
    receivedAt,
    method: 'POST',
    path: '/integrations/api/x/',
    query: '{}',
    headers: '{}',
    body: '',
    bodyTruncated: false,
    status: 'NO_DECODER',
    httpStatus: 202,
    decoderVersion: null,
    run: null,
    stored: null,
    ...more,
  };
}
