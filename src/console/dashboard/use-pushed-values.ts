import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useLive } from '../api/use-live.ts';
import { useQuery } from '../api/use-query.ts';
import type { LivePoint } from '../chart/merge-values.ts';
import type { MeasuredValue } from '../parts/value-text.ts';
import { DashboardLatest, DashboardValues } from './dashboard.graphql.ts';

type Value = Exclude<MeasuredValue, null>;

/** Minimum time between drawings, however many values arrive. */
const DRAW_MS = 250;
/** Maximum pushed values kept per field; by then the charts have fetched them. */
const MAX_KEPT = 3_000;

/** The latest values of a device by field, and the pushed ones since the dashboard was opened. */
export interface DashboardLive {
  latest: ReadonlyMap<string, { value: Value; timestamp: string }>;
  /** Pushed values by field, in order of arrival; another object after each arrival. */
  pushed: ReadonlyMap<string, readonly LivePoint<Value>[]>;
  /** Number of times that events were missed, or may have been. */
  missed: number;
}

const NOTHING: DashboardLive['pushed'] = new Map();

/** Follows fields of a device; null: none. */
export function usePushedValues(deviceId: string | null, fields: readonly string[]): DashboardLive {
  const isFollowed = deviceId !== null && fields.length > 0;
  const { data, refetch } = useQuery(DashboardLatest, isFollowed ? { id: deviceId, fields } : null);
  const [{ pushed, missed }, setState] = useState({ pushed: NOTHING, missed: 0 });
  const waiting = useRef<(LivePoint<Value> & { field: string })[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    setState((before) => ({ ...before, pushed: NOTHING }));
    return () => {
      clearTimeout(timer.current);
      timer.current = undefined;
      waiting.current = [];
    };
  }, [deviceId]);
  const flush = (): void => {
    timer.current = undefined;
    const heap = waiting.current.splice(0);
    setState((before) => {
      const next = new Map(before.pushed);
      for (const { field, timestamp, value } of heap)
        next.set(field, [...(next.get(field) ?? []), { timestamp, value }].slice(-MAX_KEPT));
      return { ...before, pushed: next };
    });
  };
  useLive(DashboardValues, isFollowed ? { deviceIds: [deviceId], fields } : null, {
    cursorOf: ({ measurementsRecorded }) => measurementsRecorded.cursor,
    missed: () => {
      setState((before) => ({ pushed: NOTHING, missed: before.missed + 1 }));
      void refetch();
    },
    next: ({ measurementsRecorded: { measurements } }) => {
      for (const { field, timestamp, value } of measurements)
        waiting.current.push({ field: field.identifier, timestamp: Date.parse(timestamp) / 1_000, value });
      if (waiting.current.length > MAX_KEPT) waiting.current.splice(0, waiting.current.length - MAX_KEPT);
      timer.current ??= setTimeout(flush, DRAW_MS);
    },
  });
  const latest = useMemo(() => latestOf(data?.device.latest ?? [], pushed), [data, pushed]);
  return { latest, pushed, missed };
}

function latestOf(
  known: readonly { field: { identifier: string }; value: Value; timestamp: string }[],
  pushed: DashboardLive['pushed'],
): DashboardLive['latest'] {
  const latest = new Map(known.map(({ field, value, timestamp }) => [field.identifier, { value, timestamp }]));
  for (const [field, points] of pushed)
    for (const { timestamp, value } of points) {
      const before = latest.get(field);
      // For equal times the last arrival counts.
      if (before === undefined || Date.parse(before.timestamp) <= timestamp * 1_000)
        latest.set(field, { value, timestamp: new Date(timestamp * 1_000).toISOString() });
    }
  return latest;
}
