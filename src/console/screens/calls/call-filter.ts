import type { CallStatus } from '../../api/schema-types.ts';
import { CALL_STATUSES } from '../../decoding/call-status.tsx';
import type { CallParts } from '../../decoding/decoding.graphql.ts';
import { timeOf } from '../../time/local-time.ts';

/** The filter of the call log, as the address holds it. */
export interface CallFilter {
  /** Outcomes; empty: any. */
  statuses: readonly CallStatus[];
  /** Receipt time in milliseconds; from inclusive, to exclusive. */
  from: number | null;
  to: number | null;
  /** Lower-case text, as are those it is compared with. */
  text: string;
  device: string;
}

/** The filter in the address; unreadable parts do not narrow. */
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

/** True when the filter excludes any call. */
export function isNarrow({ statuses, from, to, text, device }: CallFilter): boolean {
  return statuses.length > 0 || from !== null || to !== null || text !== '' || device !== '';
}

/** True when outcome and time of a call match. */
export function isOutlined({ statuses, from, to }: CallFilter, { status, receivedAt }: CallParts): boolean {
  const at = Date.parse(receivedAt);
  return (
    (statuses.length === 0 || statuses.includes(status)) && (from === null || at >= from) && (to === null || at < to)
  );
}

/** True when a live call matches, with the rules of the API's `searchCalls`. */
export function passes(filter: CallFilter, call: CallParts): boolean {
  if (!isOutlined(filter, call)) return false;
  const { run } = call;
  const has = (text: string | undefined, wanted: string): boolean => text?.toLowerCase().includes(wanted) === true;
  if (filter.text !== '') {
    const query = Object.entries(call.query as Record<string, string[]>).flat(2);
    const texts = [call.body, call.path, ...query, run?.error?.message, ...(run?.console ?? [])];
    if (!texts.some((text) => has(text, filter.text))) return false;
  }
  if (filter.device === '') return true;
  return (run?.entries ?? []).some(({ device, matchedDevice }) =>
    [device ?? '', matchedDevice?.name, matchedDevice?.serialNumber, matchedDevice?.id].some((text) =>
      has(text, filter.device),
    ),
  );
}
