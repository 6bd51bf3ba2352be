import { useMemo, useState } from 'preact/hooks';
import type { LivePoint } from '../chart/merge-values.ts';
import { Note } from '../parts/note.tsx';
import { dateTimeText } from '../parts/time-text.ts';
import type { MeasuredValue } from '../parts/value-text.ts';
import { type DashboardSeries, useDashboardHistory } from './use-dashboard-history.ts';
import { type DashboardLive, valueKey } from './use-pushed-values.ts';
import { optionsOf, widgetColor, widgetText } from './widget-options.ts';
import type { WidgetProps } from './widget-props.ts';
import type { WidgetScope } from './widgets.ts';

type Value = Exclude<MeasuredValue, null>;

/** Maximum rows per device that are fetched. */
const POINTS = 500;
/** More than so many values were probably chosen from still more: the server keeps the shape of so many at most. */
const THINNED = 0.75 * POINTS;
/** Rows per page. */
const ROWS = 50;

/** One moment of a device. */
interface Row {
  /** Unix seconds. */
  timestamp: number;
  device: WidgetScope['devices'][number];
  /** By field. */
  values: ReadonlyMap<string, Value>;
}

/** The values of the range by time, the newest first. */
export function TimeTable({ widget, devices, fields, live }: WidgetProps) {
  const options = optionsOf(widget);
  const { series, error, from } = useDashboardHistory({ widget, devices, fields, live, how: { points: POINTS } });
  const [pages, setPages] = useState(1);
  const rows = useMemo(
    () => (series === null ? [] : rowsOf(devices, series, live.pushed, from)),
    [devices, series, live.pushed, from],
  );
  const isThinned = series?.some(({ resolution, timestamps }) => resolution !== null || timestamps.length > THINNED);
  const isMany = devices.length > 1;
  if (error !== null) return <Note kind="error">{error}</Note>;
  return (
    <>
      {isThinned === true && <p class="hint">There are more values in this time: these keep its shape.</p>}
      <table class="widget-table">
        <thead>
          <tr>
            <th>Time</th>
            {isMany && <th>Device</th>}
            {fields.map(({ identifier, name }) => (
              <th key={identifier} class="number">
                {name ?? identifier}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, pages * ROWS).map(({ timestamp, device, values }) => (
            <tr key={`${timestamp} ${device.id}`}>
              <td>{dateTimeText(new Date(timestamp * 1_000))}</td>
              {isMany && <td>{device.name}</td>}
              {fields.map((field) => {
                const value = values.get(field.identifier);
                return (
                  <td key={field.identifier} class="number" data-color={widgetColor(value, field, options)}>
                    {value === undefined ? '' : widgetText(value, field, options)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {series !== null && rows.length === 0 && <p class="hint">No values in this range.</p>}
      {rows.length > pages * ROWS && (
        <button type="button" class="quiet" onClick={() => setPages(pages + 1)}>
          Older values
        </button>
      )}
    </>
  );
}

/** Fetched and pushed values as rows of one moment, the newest first. */
function rowsOf(
  devices: WidgetScope['devices'],
  series: readonly DashboardSeries[],
  pushed: DashboardLive['pushed'],
  from: number,
): Row[] {
  const rows: Row[] = [];
  for (const device of devices) {
    const moments = new Map<number, Map<string, Value>>();
    const put = (field: string, timestamp: number, value: Value): void => {
      if (timestamp * 1_000 < from) return;
      const values = moments.get(timestamp) ?? new Map<string, Value>();
      moments.set(timestamp, values.set(field, value));
    };
    for (const { deviceId, field, timestamps, values } of series)
      if (deviceId === device.id)
        for (const [at, timestamp] of timestamps.entries()) {
          const value = values[at];
          if (value != null) put(field, timestamp, value);
        }
    for (const { deviceId, field, resolution } of series) {
      // Buckets cannot take single values: the server puts them there.
      if (deviceId !== device.id || resolution !== null) continue;
      const points: readonly LivePoint<Value>[] = pushed.get(valueKey(device.id, field)) ?? [];
      for (const { timestamp, value } of points) put(field, timestamp, value);
    }
    for (const [timestamp, values] of moments) rows.push({ timestamp, device, values });
  }
  return rows.sort((a, b) => b.timestamp - a.timestamp);
}

/** The latest values: a row for each device, or for each field of the only one. */
export function LatestTable({ widget, devices, fields, live }: WidgetProps) {
  const options = optionsOf(widget);
  const cell = (deviceId: string | null, field: (typeof fields)[number]) => {
    const value = live.latest.get(valueKey(deviceId, field.identifier))?.value;
    return (
      <td key={field.identifier} class="number" data-color={widgetColor(value, field, options)}>
        {widgetText(value, field, options)}
      </td>
    );
  };
  if (devices.length <= 1)
    return (
      <table class="widget-table">
        <tbody>
          {fields.map((field) => (
            <tr key={field.identifier}>
              <th scope="row">{field.name ?? field.identifier}</th>
              {cell(devices[0]?.id ?? null, field)}
            </tr>
          ))}
        </tbody>
      </table>
    );
  return (
    <table class="widget-table">
      <thead>
        <tr>
          <th>Device</th>
          {fields.map(({ identifier, name }) => (
            <th key={identifier} class="number">
              {name ?? identifier}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {devices.map(({ id, name }) => (
          <tr key={id}>
            <th scope="row">{name}</th>
            {fields.map((field) => cell(id, field))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
