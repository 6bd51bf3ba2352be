import { useEffect, useState } from 'preact/hooks';
import type { MeasuredValue } from '../../parts/value-text.ts';
import type { LiveValues } from './live-values.ts';

/** A value with its time (ISO 8601). */
export interface Latest {
  value: MeasuredValue;
  timestamp: string;
}

/** The latest value of a field: the fetched one, or a pushed one that is newer. */
export function useLatest(identifier: string, fetched: Latest | null, live: LiveValues): Latest | null {
  const [pushed, setPushed] = useState<Latest | null>(null);
  useEffect(
    () =>
      live.listen(identifier, (points) => {
        const last = points.reduce((newest, point) => (point.timestamp >= newest.timestamp ? point : newest));
        const timestamp = new Date(last.timestamp * 1_000).toISOString();
        setPushed((before) =>
          before !== null && before.timestamp > timestamp ? before : { value: last.value, timestamp },
        );
      }),
    [live, identifier],
  );
  return pushed !== null && (fetched === null || pushed.timestamp >= fetched.timestamp) ? pushed : fetched;
}
