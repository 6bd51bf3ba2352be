import { useMemo } from 'preact/hooks';
import { useQuery } from '../api/use-query.ts';
import type { Aggregation } from '../api/schema-types.ts';
import type { Columns } from '../chart/merge-values.ts';
import type { MeasuredValue } from '../parts/value-text.ts';
import { zoneName } from '../time/local-time.ts';
import { DashboardHistory } from './dashboard.graphql.ts';
import { useMovingSpan } from './use-moving-span.ts';
import type { WidgetProps } from './widget-props.ts';
import { rangeMs } from './widgets.ts';

type Value = Exclude<MeasuredValue, null>;

/** Maximum devices whose history one widget shows: as many as one query reads. */
const MAX_DEVICES = 200;
/** Bounds of the points of one series. */
const MOST_POINTS = 800;
const LEAST_POINTS = 60;

/** The points of each of `count` series that have `all` together. */
export function pointsOfEach(all: number, count: number): number {
  return Math.max(LEAST_POINTS, Math.min(MOST_POINTS, Math.floor(all / Math.max(1, count))));
}

/** The values of one field of one device in the range. */
export interface DashboardSeries extends Columns<Value> {
  deviceId: string;
  field: string;
  /** Width of the buckets; null: single values. */
  resolution: string | null;
  before: { timestamp: string; value: Value } | null;
}

interface Asked extends Pick<WidgetProps, 'widget' | 'devices' | 'fields' | 'live'> {
  how: { points?: number; resolution?: string; aggregation?: Aggregation };
  /** How much before the range is fetched, in milliseconds. */
  before?: number;
}

/** The history of a widget's fields in its range, which ends now and moves on; null: not fetched yet. */
export function useDashboardHistory({ widget, devices, fields, live, how, before = 0 }: Asked): {
  series: readonly DashboardSeries[] | null;
  error: string | null;
  /** The shown range, in milliseconds. */
  from: number;
  now: number;
} {
  const span = rangeMs(widget.range);
  const { asked, now } = useMovingSpan(span, live, widget.kind === 'bar');
  const { data, error } = useQuery(
    DashboardHistory,
    devices.length === 0
      ? null
      : {
          ids: devices.slice(0, MAX_DEVICES).map(({ id }) => id),
          fields: fields.map(({ identifier }) => identifier),
          from: new Date(asked - span - before).toISOString(),
          to: new Date(asked + 1).toISOString(),
          timeZone: zoneName(),
          ...how,
        },
  );
  const series = useMemo(
    () =>
      data?.history.flatMap(({ device, series: some }) =>
        some.map(({ field, ...one }) => ({ ...one, deviceId: device.id, field: field.identifier })),
      ) ?? null,
    [data],
  );
  return { series, error: error?.message ?? null, from: now - span, now };
}
