import { ApiError } from '../../api/api-error.ts';
import { presentedToken } from '../../api/presented-token.ts';
import { sessionEnded } from '../../api/session-end.ts';
import { t } from '../../texts/texts.ts';

/** The way a file is read, as the import takes it. */
export interface ImportSettings {
  kind: 'csv' | 'ndjson';
  /** The device of all lines; null: each line names its own. */
  deviceId: string | null;
  /** Names for headings; an empty one leaves the column out. */
  columns: Readonly<Record<string, string>>;
  timeZone: string;
}

/** One value of a line as it would become, or the reason that it would not. */
export interface PreviewedValue {
  line: number;
  device: string | null;
  field: string | null;
  timestamp: string | null;
  value: unknown;
  code: string | null;
  message: string | null;
}

/** Outcome of one request. */
export interface PieceOutcome {
  lines: number;
  stored: number;
  refused: number;
  values: number;
  replaced: number;
  /** The first 1,000. */
  rejected: { line: number; field: string | null; code: string; message: string }[];
  ahead?: { message: string };
  preview?: PreviewedValue[];
}

/** Sends text to the import. Throws ApiError in the server's words: `OFFLINE` or `BUSY` where it may be tried again. */
export async function sendPiece(
  { kind, deviceId, columns, timeZone }: ImportSettings,
  text: string,
  dryRun: boolean,
  signal: AbortSignal,
): Promise<PieceOutcome> {
  const query = new URLSearchParams({ dryRun: String(dryRun), timeZone });
  if (Object.keys(columns).length > 0) query.set('columns', JSON.stringify(columns));
  const path = deviceId === null ? '/v1/import' : `/v1/devices/${deviceId}/import`;
  const token = presentedToken();
  let response: Response;
  try {
    response = await fetch(`${path}?${query.toString()}`, {
      method: 'POST',
      headers: {
        'Content-Type': kind === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson; charset=utf-8',
        ...(token === null ? {} : { Authorization: `Token ${token}` }),
      },
      credentials: token === null ? 'same-origin' : 'omit',
      body: text,
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ApiError('OFFLINE', t('The server cannot be reached.'));
  }
  const body = (await response.json().catch(() => ({}))) as PieceOutcome & { code?: string; detail?: string };
  if (response.ok) return body;
  if (response.status === 401) sessionEnded();
  const isBusy = response.status === 503 || response.status === 502 || response.status === 504;
  throw new ApiError(
    isBusy ? 'BUSY' : (body.code ?? ''),
    body.detail ?? t('The server answered {status}.', { status: response.status }),
  );
}
