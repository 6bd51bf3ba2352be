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
/** Maximum devices of a dashboard that are followed: as many as a page of them has. */
const MAX_FOLLOWED = 500;

/** The latest values of devices by device and field, and the pushed ones since the dashboard was opened. */
export interface DashboardLive {
  latest: ReadonlyMap<string, { value: Value; timestamp: string }>;
  /** Pushed values by device and field, in order of arrival; another object after each arrival. */
  pushed: ReadonlyMap<string, readonly LivePoint<Value>[]>;
  /** Number of times that events were missed, or may have been. */
  missed: number;
}

const NOTHING: DashboardLive['pushed'] = new Map();

/** The key of a field of a device in `DashboardLive`. */
export function valueKey(deviceId: string | null, field: string): string {
  return `${deviceId} ${field}`;
}

/** Follows fields of devices. */
export function usePushedValues(devices: readonly string[], fields: readonly string[]): DashboardLive {
  const ids = devices.slice(0, MAX_FOLLOWED);
  const isFollowed = ids.length > 0 && fields.length > 0;
  // Of several products some may not have all of the fields.
  const wanted = ids.length > 1 ? null : fields;
  const { data, refetch } = useQuery(DashboardLatest, isFollowed ? { ids, first: ids.length, fields: wanted } : null);
  const [{ pushed, missed }, setState] = useState({ pushed: NOTHING, missed: 0 });
  const waiting = useRef<(LivePoint<Value> & { key: string })[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    setState((before) => ({ ...before, pushed: NOTHING }));
    return () => {
      clearTimeout(timer.current);
      timer.current = undefined;
      waiting.current = [];
    };
  }, [ids.join(' ')]);
  const flush = (): void => {
    timer.current = undefined;
    const heap = waiting.current.splice(0);
    setState((before) => {
      const next = new Map(before.pushed);
      for (const { key, timestamp, value } of heap)
        next.set(key, [...(next.get(key) ?? []), { timestamp, value }].slice(-MAX_KEPT));
      return { ...before, pushed: next };
    });
  };
  useLive(DashboardValues, isFollowed ? { deviceIds: ids, fields } : null, {
    cursorOf: ({ measurementsRecorded }) => measurementsRecorded.cursor,
    missed: () => {
      setState((before) => ({ pushed: NOTHING, missed: before.missed + 1 }));
      void refetch();
    },
    next: ({ measurementsRecorded: { device, measurements } }) => {
      for (const { field, timestamp, value } of measurements) {
        const key = valueKey(device.id, field.identifier);
        waiting.current.push({ key, timestamp: Date.parse(timestamp) / 1_000, value });
      }
      if (waiting.current.length > MAX_KEPT) waiting.current.splice(0, waiting.current.length - MAX_KEPT);
      timer.current ??= setTimeout(flush, DRAW_MS);
    },
  });
  const latest = useMemo(() => latestOf(data?.devices.edges.map(({ node }) => node) ?? [], pushed), [data, pushed]);
  return { latest, pushed, missed };
}

interface KnownDevice {
  id: string;
  latest: readonly { field: { identifier: string }; value: Value; timestamp: string }[];
}

function latestOf(known: readonly KnownDevice[], pushed: DashboardLive['pushed']): DashboardLive['latest'] {
  const latest: Map<string, { value: Value; timestamp: string }> = new Map();
  for (const device of known)
    for (const { field, value, timestamp } of device.latest)
      latest.set(valueKey(device.id, field.identifier), { value, timestamp });
  for (const [key, points] of pushed)
    for (const { timestamp, value } of points) {
      const before = latest.get(key);
      // For equal times the last arrival counts.
      if (before === undefined || Date.parse(before.timestamp) <= timestamp * 1_000)
        latest.set(key, { value, timestamp: new Date(timestamp * 1_000).toISOString() });
    }
  return latest;
}
