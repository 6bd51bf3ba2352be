import { useMemo } from 'preact/hooks';
import { useQuery } from '../../api/use-query.ts';
import { DashboardGrid } from '../../dashboard/dashboard-grid.tsx';
import { widgetsOf } from '../../dashboard/widgets.ts';
import { href } from '../../navigation/place.ts';
import type { ScreenProps } from '../../navigation/routes.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { Note } from '../../parts/note.tsx';
import { DeviceHead } from './device-head.tsx';
import { DevicePageQuery } from './device.graphql.ts';
import { FieldChart } from './field-chart.tsx';
import { FieldTrack } from './field-track.tsx';
import { LatestValues } from './latest-values.tsx';
import { useLiveValues } from './live-values.ts';
import { RangeBar } from './range-bar.tsx';
import { useRange } from './use-range.ts';
import './device.css';

/** The screen of one device: its present and past values. */
export function DeviceScreen({ params }: ScreenProps) {
  const id = params['id'] ?? '';
  const { data, error, refetch, change } = useQuery(DevicePageQuery, { id });
  const device = data?.device ?? null;
  useTitle(device?.name ?? null);
  const range = useRange();
  const live = useLiveValues(id, {
    onHeard: (lastHeardAt) => change((known) => ({ device: { ...known.device, lastHeardAt, online: true } })),
    onState: (online) => change((known) => ({ device: { ...known.device, online } })),
    missed: () => {
      void refetch();
      range.refresh();
    },
  });
  const latest = useMemo(
    () => new Map(device?.latest.map((one) => [one.field.identifier, one]) ?? []),
    [device?.latest],
  );
  if (error !== null && device === null)
    return (
      <main class="page">
        <Note kind="error">{error.message}</Note>
        <a href={href('/devices')}>All devices</a>
      </main>
    );
  if (device === null)
    return (
      <main class="page" aria-busy="true">
        <div class="waiting head" />
        <div class="waiting values" />
      </main>
    );
  const { fields } = device.product;
  const widgets = widgetsOf(device.product.dashboard);
  return (
    <main class="page device">
      <DeviceHead device={device} shown={range.shown} onChanged={() => void refetch()} />
      {fields.length === 0 ? (
        <Note>
          This product has no fields yet.{' '}
          <a href={href(`/products/${device.product.id}`)}>Add some to {device.product.name}</a>
        </Note>
      ) : (
        <>
          <LatestValues fields={fields} latest={latest} live={live} />
          {widgets.length > 0 && (
            <DashboardGrid widgets={widgets} fields={fields} deviceId={device.id} editing={null} />
          )}
          <RangeBar range={range} />
          {fields.map((field) => {
            const Card = field.type === 'GEOLOCATION' ? FieldTrack : FieldChart;
            return <Card key={field.identifier} deviceId={id} field={field} range={range} live={live} />;
          })}
        </>
      )}
    </main>
  );
}
