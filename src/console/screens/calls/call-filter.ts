import type { CallStatus } from '../../api/schema-types.ts';
import { CALL_STATUSES } from '../../decoding/call-status.tsx';
import type { CallParts } from '../../decoding/decoding.graphql.ts';

/** Which calls of the log are shown, as the address says. */
export interface CallFilter {
  /** Empty: whatever became of them. */
  statuses: readonly CallStatus[];
  /** Of the time of receipt, in milliseconds; from inclusive, to exclusive. */
  from: number | null;
  to: number | null;
  /** In lower case, as are those that it is compared with. */
  text: string;
  device: string;
}

/** The filter that the address says; what cannot be read does not narrow. */
export function readFilter(query: URLSearchParams): CallFilter {
  const named = (query.get('status') ?? '').split(',');
  return {
    statuses: CALL_STATUSES.map(({ status }) => status).filter((status) => named.includes(status)),
    from: timeOf(query.get('from')),
    to: timeOf(query.get('to')),
    text: (query.get('text') ?? '').trim().toLowerCase(),
    device: (query.get('device') ?? '').trim().toLowerCase(),
  };
}

/** Whether a call passes. `text` is looked for in body, path and what went wrong, `device` in what was named or matched. */
export function passes(filter: CallFilter, call: CallParts): boolean {
  const at = Date.parse(call.receivedAt);
  if (filter.statuses.length > 0 && !filter.statuses.includes(call.status)) return false;
  if ((filter.from !== null && at < filter.from) || (filter.to !== null && at >= filter.to)) return false;
  const { run } = call;
  if (filter.text !== '') {
    const texts = [call.body, call.path, run?.error?.message ?? '', ...(run?.console ?? [])];
    if (!texts.some((text) => text.toLowerCase().includes(filter.text))) return false;
  }
  if (filter.device === '') return true;
  return (run?.entries ?? []).some(({ device, matchedDevice }) =>
    [device ?? '', matchedDevice?.name ?? '', matchedDevice?.id ?? ''].some((text) =>
      text.toLowerCase().includes(filter.device),
    ),
  );
}

function timeOf(text: string | null): number | null {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? null : ms;
}
