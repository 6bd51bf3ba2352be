import { useMemo, useState } from 'preact/hooks';
import { liveState } from '../../api/connection.ts';
import { useStore } from '../../api/store.ts';
import { useLive } from '../../api/use-live.ts';
import { useQuery } from '../../api/use-query.ts';
import { DashboardGrid } from '../../dashboard/dashboard-grid.tsx';
import { widgetsOf } from '../../dashboard/widgets.ts';
import { href } from '../../navigation/place.ts';
import type { ScreenProps } from '../../navigation/routes.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { Note } from '../../parts/note.tsx';
import { ChartList } from './chart-list.tsx';
import { DeviceHead } from './device-head.tsx';
import { DeviceAlerts, DevicePageQuery } from './device.graphql.ts';
import { LatestValues } from './latest-values.tsx';
import { useLiveValues } from './live-values.ts';
import { useOpenFields } from './open-fields.ts';
import { useRange } from './use-range.ts';
import './device.css';

/** The screen of one device: its present and past values. */
export function DeviceScreen({ params }: ScreenProps) {
  const id = params['id'] ?? '';
  // A token that covers the device alone may not see the rules of its product.
  const [isWhole, setWhole] = useState(true);
  const { data, error, refetch, change } = useQuery(DevicePageQuery, { id, isWhole });
  if (error?.code === 'FORBIDDEN' && isWhole) setWhole(false);
  const device = data?.device ?? null;
  useTitle(device?.name ?? null);
  const range = useRange();
  const state = useStore(liveState);
  const live = useLiveValues(id, {
    onHeard: (lastHeardAt) => change((known) => ({ ...known, device: { ...known.device, lastHeardAt, online: true } })),
    onState: (online) => change((known) => ({ ...known, device: { ...known.device, online } })),
    missed: () => {
      void refetch();
      range.refresh();
    },
  });
  useLive(
    DeviceAlerts,
    { deviceIds: [id] },
    {
      cursorOf: ({ alertChanged }) => alertChanged.cursor,
      missed: () => void refetch(),
      next: ({ alertChanged: { alert } }) =>
        change((known) => {
          const others = known.alerts.edges.filter(({ node }) => node.id !== alert.id);
          return { ...known, alerts: { edges: alert.state === 'FIRING' ? [{ node: alert }, ...others] : others } };
        }),
    },
  );
  const latest = useMemo(
    () => new Map(device?.latest.map((one) => [one.field.identifier, one]) ?? []),
    [device?.latest],
  );
  const widgets = useMemo(
    () => (device === null ? [] : widgetsOf(device.product.dashboard)),
    [device?.product.dashboard],
  );
  const open = useOpenFields(device?.product.fields ?? [], widgets.length > 0);
  if (error !== null && device === null)
    return (
      <main class="page">
        <Note kind="error">{error.message}</Note>
        <a href={href('/devices')}>All devices</a>
      </main>
    );
  if (data === null || device === null)
    return (
      <main class="page" aria-busy="true">
        <div class="waiting head" />
        <div class="waiting values" />
      </main>
    );
  const { fields } = device.product;
  return (
    <main class="page device">
      <DeviceHead
        device={device}
        alerts={data.alerts.edges.map(({ node }) => node)}
        shown={range.shown}
        onChanged={() => void refetch()}
      />
      {state === 'retrying' && (
        <Note kind="error">The server cannot be reached. What you see may be old; this page goes on by itself.</Note>
      )}
      {fields.length === 0 ? (
        <Note>
          This product has no fields yet.{' '}
          <a href={href(`/products/${device.product.id}`)}>Add some to {device.product.name}</a>
        </Note>
      ) : (
        <>
          {widgets.length > 0 ? (
            <DashboardGrid widgets={widgets} fields={fields} deviceId={device.id} level={2} editing={null} />
          ) : (
            <LatestValues
              fields={fields}
              latest={latest}
              live={live}
              onOpen={(identifier) => open.set(identifier, true)}
            />
          )}
          <ChartList
            device={device}
            range={range}
            live={live}
            latest={latest}
            open={open}
            onChanged={() => void refetch()}
          />
        </>
      )}
    </main>
  );
}
