import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../api/api-error.ts';
import { connection, disconnect } from '../api/connection.ts';
import { request } from '../api/request.ts';
import { onSessionDoubt, onSessionEnd } from '../api/session-end.ts';
import { forgetAnswers, useQuery } from '../api/use-query.ts';
import { DashboardGrid, WidgetGrid } from '../dashboard/dashboard-grid.tsx';
import { useScopes } from '../dashboard/use-scopes.ts';
import { defaultWidgets, widgetsOf, type WidgetScope } from '../dashboard/widgets.ts';
import { LiveBadge } from '../layout/live-badge.tsx';
import { useTitle } from '../navigation/use-title.ts';
import { Note } from '../parts/note.tsx';
import { useLater } from '../parts/use-later.ts';
import { SharedDashboard, SharedDevice, SharedDevices, SharedToken } from './share.graphql.ts';

const AGAIN_MS = 3_000;
const LATER_MS = 200;
/** Maximum devices to choose from at once; of more, those that are searched for. */
const MAX_CHOICES = 200;

/** The page of a public link: the dashboards of what its token sees, until the token ends. */
export function SharePage({ isComplete }: { isComplete: boolean }) {
  const [hasEnded, setEnded] = useState(false);
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (!isComplete) return;
    onSessionEnd(() => {
      disconnect();
      setEnded(true);
    });
    onSessionDoubt(() => void findOut(() => setRound((before) => before + 1)));
    connection();
  }, []);
  if (!isComplete) return <Alone>This link is not complete: the part behind # is missing.</Alone>;
  if (hasEnded) return <Alone>This link has ended. Whoever gave it to you can make another one.</Alone>;
  const dashboard = new URLSearchParams(location.search).get('dashboard');
  return dashboard === null ? <Shared key={round} /> : <SharedDashboardPage key={round} id={dashboard} />;
}

function Alone({ children }: { children: string }) {
  return (
    <main class="alone">
      <Note kind="error">{children}</Note>
    </main>
  );
}

/** Asks whether the token is still good, and begins anew if so: it may show something else by now. */
async function findOut(again: () => void): Promise<void> {
  try {
    await request(SharedToken, {});
    forgetAnswers();
    connection();
    again();
  } catch (error) {
    // A token that has ended was told to `onSessionEnd`.
    if (error instanceof ApiError && error.code === 'UNAUTHENTICATED') return;
    setTimeout(() => void findOut(again), AGAIN_MS);
  }
}

function Shared() {
  const [chosen, setChosen] = useState<string | null>(null);
  const [text, setText] = useState('');
  const search = useLater(text.trim(), LATER_MS);
  const { data, error } = useQuery(SharedDevices, { first: MAX_CHOICES, search });
  const devices = data?.devices.edges.map(({ node }) => node) ?? [];
  const id = devices.some((device) => device.id === chosen) ? chosen : (devices[0]?.id ?? null);
  const isLong = (data?.devices.totalCount ?? 0) > MAX_CHOICES || text !== '';
  return (
    <main class="share">
      {error !== null && <Note kind="error">{error.message}</Note>}
      {(devices.length > 1 || isLong) && (
        <div class="share-choice">
          {isLong && (
            <input
              type="search"
              aria-label="Find a device"
              placeholder="Name or serial number…"
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          )}
          <select aria-label="Device" value={id ?? ''} onChange={(event) => setChosen(event.currentTarget.value)}>
            {devices.map((device) => (
              <option key={device.id} value={device.id}>
                {device.name}
              </option>
            ))}
          </select>
        </div>
      )}
      {data !== null && id === null && <Note>There is no such device here.</Note>}
      {id !== null && <Dashboard key={id} id={id} />}
    </main>
  );
}

function Dashboard({ id }: { id: string }) {
  const { data, error } = useQuery(SharedDevice, { id });
  const device = data?.device ?? null;
  useTitle(device?.name ?? null);
  if (error !== null) return <Note kind="error">{error.message}</Note>;
  if (device === null) return null;
  const { fields, dashboard } = device.product;
  const widgets = widgetsOf(dashboard);
  return (
    <>
      <header class="share-head">
        <h1>{device.name}</h1>
        <LiveBadge />
      </header>
      {fields.length === 0 && <Note>Nothing of this device is shown here.</Note>}
      <DashboardGrid
        widgets={widgets.length === 0 ? defaultWidgets(fields) : widgets}
        fields={fields}
        deviceId={id}
        level={2}
        editing={null}
      />
    </>
  );
}

const NOTHING: WidgetScope = { devices: [], fields: [] };

/** A dashboard over many devices, as the token sees it. */
function SharedDashboardPage({ id }: { id: string }) {
  const { data, error } = useQuery(SharedDashboard, { id });
  const dashboard = data?.dashboard ?? null;
  useTitle(dashboard?.name ?? null);
  const widgets = dashboard === null ? [] : widgetsOf({ widgets: dashboard.widgets });
  const scopes = useScopes(
    null,
    widgets.map(({ source }) => source),
  );
  const isReady = widgets.every(({ source }) => source === undefined || scopes.of(source) !== null);
  return (
    <main class="share">
      {error?.code === 'NOT_FOUND' ? (
        <Note kind="error">
          This dashboard is not there any more, or shows more by now than the link may. Whoever gave the link to you can
          make another one.
        </Note>
      ) : (
        (error ?? scopes.error) !== null && <Note kind="error">{error?.message ?? scopes.error ?? ''}</Note>
      )}
      {dashboard !== null && (
        <header class="share-head">
          <h1>{dashboard.name}</h1>
          <LiveBadge />
        </header>
      )}
      {isReady && (
        <WidgetGrid widgets={widgets} scopeOf={({ source }) => scopes.of(source) ?? NOTHING} level={2} editing={null} />
      )}
    </main>
  );
}
