import { useMemo } from 'preact/hooks';
import type { ApiError } from '../../api/api-error.ts';
import type { DataOf } from '../../api/operation.ts';
import { useQuery } from '../../api/use-query.ts';
import type { FieldAnswer } from '../../chart/field-chart-data.ts';
import type { Columns } from '../../chart/merge-values.ts';
import { shownAs } from '../../fields/meanings.ts';
import { zoneName } from '../../time/local-time.ts';
import { type DeviceField, DeviceCharts, OtherDevices } from './device.graphql.ts';
import type { RangeStatistics } from './statistics-line.tsx';

/** Maximum values drawn one by one; more are drawn as buckets. */
export const POINTS = 1_500;
const BUCKETS = 400;
/** Maximum fields of one request, within what an answer may hold. */
export const FIELDS_AT_ONCE = 8;

/** What the server has for the chart of a field. */
export interface FieldValues {
  answer: FieldAnswer;
  statistics: RangeStatistics;
  /** The values of the earlier time that is compared with, under the times of this range; null: none. */
  earlier: Columns<number> | null;
}

interface Asked {
  deviceId: string;
  /** At most `FIELDS_AT_ONCE`. */
  fields: readonly DeviceField[];
  /** Milliseconds. */
  range: { from: number; to: number };
  /** By how many milliseconds the compared time is earlier; null: none. */
  earlierBy: number | null;
}

/** True for types whose charts are lines of numbers. */
export function isNumeric({ type }: Pick<DeviceField, 'type'>): boolean {
  return type === 'FLOAT' || type === 'INTEGER';
}

/** The values of several charts by one request, by the identifiers of their fields. */
export function useCharts({ deviceId, fields, range, earlierBy }: Asked): {
  values: ReadonlyMap<string, FieldValues>;
  error: ApiError | null;
} {
  const groups = groupsOf(fields);
  const by = earlierBy ?? 0;
  const { data, error } = useQuery(
    DeviceCharts,
    fields.length === 0
      ? null
      : {
          id: deviceId,
          ...groups,
          earlierAveraged: earlierBy === null ? [] : groups.averaged,
          earlierCounted: earlierBy === null ? [] : groups.counted,
          ...rangeOf(range),
          earlierFrom: new Date(range.from - by).toISOString(),
          earlierTo: new Date(range.to + 1 - by).toISOString(),
          points: POINTS,
          buckets: BUCKETS,
          timeZone: zoneName(),
        },
  );
  const values = useMemo(() => (data === null ? new Map<string, FieldValues>() : valuesOf(data, by)), [data]);
  return { values, error };
}

/** The values of other devices in the range, by the identifiers of fields: one line for each device. */
export function useOtherDevices(
  ids: readonly string[],
  fields: readonly DeviceField[],
  range: Asked['range'],
): { lines: ReadonlyMap<string, readonly DeviceLine[]>; error: ApiError | null } {
  const { averaged, counted } = groupsOf(fields);
  const isAsked = ids.length > 0 && averaged.length + counted.length > 0;
  const { data, error } = useQuery(
    OtherDevices,
    isAsked ? { ids, averaged, counted, ...rangeOf(range), buckets: BUCKETS, timeZone: zoneName() } : null,
  );
  const lines = useMemo(() => {
    const found = new Map<string, DeviceLine[]>();
    for (const { device, series } of isAsked && data !== null ? [...data.averaged, ...data.counted] : [])
      for (const { field, timestamps, values } of series) {
        const line = { ...device, timestamps, values: numbersOf(values) };
        found.set(field.identifier, [...(found.get(field.identifier) ?? []), line]);
      }
    return found;
  }, [data, isAsked]);
  return { lines, error };
}

/** The line of another device. */
interface DeviceLine extends Columns<number> {
  id: string;
  name: string;
}

function rangeOf({ from, to }: Asked['range']): { from: string; to: string } {
  // Include values of this very millisecond.
  return { from: new Date(from).toISOString(), to: new Date(to + 1).toISOString() };
}

/** Identifiers by how the fields are asked for. */
function groupsOf(fields: readonly DeviceField[]) {
  const named = (some: readonly DeviceField[]): string[] => some.map(({ identifier }) => identifier);
  const numbers = fields.filter(isNumeric);
  const counted = numbers.filter(({ meaning }) => shownAs(meaning) === 'LAST');
  return {
    fields: named(fields),
    plain: named(fields.filter((field) => !counted.includes(field))),
    gauges: named(numbers.filter(({ meaning }) => meaning === 'GAUGE')),
    averaged: named(numbers.filter((field) => !counted.includes(field))),
    counted: named(counted),
  };
}

type Answer = DataOf<typeof DeviceCharts>['device'];

function valuesOf({ device }: { device: Answer }, by: number): Map<string, FieldValues> {
  const found = new Map<string, FieldValues>();
  for (const raw of device.raw) {
    const { identifier } = raw.field;
    const of = <Part extends { field: { identifier: string } }>(parts: readonly Part[]): Part | undefined =>
      parts.find(({ field }) => field.identifier === identifier);
    const statistics = of(device.plain) ?? of(device.sums);
    const mean = of(device.averaged) ?? of(device.counted);
    const [low, high] = [of(device.low), of(device.high)];
    const before = of(device.earlierAveraged) ?? of(device.earlierCounted);
    if (statistics === undefined) continue;
    const band = low === undefined || high === undefined ? null : { low: low.values, high: high.values };
    const buckets =
      mean === undefined ? null : { timestamps: mean.timestamps, mean: mean.values, band, resolution: mean.resolution };
    const earlier = before && {
      timestamps: before.timestamps.map((time) => time + by / 1_000),
      values: numbersOf(before.values),
    };
    found.set(identifier, { answer: { raw, buckets, count: statistics.count }, statistics, earlier: earlier ?? null });
  }
  return found;
}

function numbersOf(values: readonly unknown[]): (number | null)[] {
  return values.map((value) => (typeof value === 'number' ? value : null));
}
