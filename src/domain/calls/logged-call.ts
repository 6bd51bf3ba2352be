import type { CallRow, CallStatus } from '../measurements/store.ts';
import type { DecoderRun } from '../decoders/decoder-run.ts';
import { parseRun } from '../decoders/run-text.ts';

/** A call as clients see it (contract type WebhookCall): the row with its JSON texts parsed. */
export interface LoggedCall {
  id: string;
  receivedAt: number;
  method: string;
  path: string;
  /** Name → list of values. */
  query: Record<string, string[]>;
  /** Title-Case name → value; credentials are `***`. */
  headers: Record<string, string>;
  body: string;
  bodyTruncated: boolean;
  status: CallStatus;
  httpStatus: number;
  decoderVersion: number | null;
  run: DecoderRun | null;
}

/** The stored row as clients see it; what its columns hold was written by `callRow`. */
export function toLoggedCall(row: CallRow): LoggedCall {
  const { productKey: _, query, headers, run, ...rest } = row;
  return {
    ...rest,
    query: JSON.parse(query) as Record<string, string[]>,
    headers: JSON.parse(headers) as Record<string, string>,
    run: run === null ? null : parseRun(run),
  };
}
