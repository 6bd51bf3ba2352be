import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { DataOf } from '../../api/operation.ts';
import { useStore } from '../../api/store.ts';
import { useLookedAt } from '../../api/use-looked-at.ts';
import { href, navigate } from '../../navigation/place.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { Note } from '../../parts/note.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { may, workspaceId } from '../../session/session.ts';
import { DaysCard } from './days-card.tsx';
import { Home } from './home.graphql.ts';
import './home.css';
import { countText } from '../../texts/count-text.ts';

const LOOK_MS = 30_000;

type Fleet = DataOf<typeof Home>['workspace']['fleet'];

/** The screen of `/console/`: the devices of the workspace at a glance; without any it leads to the first steps. */
export function HomeScreen() {
  const workspace = useStore(workspaceId);
  const { data, error, fresh } = useLookedAt(Home, workspace === null ? null : { workspaceId: workspace }, LOOK_MS);
  const shown = fresh ? (data?.workspace ?? null) : null;
  useTitle(shown?.name ?? null);
  const isEmpty = shown !== null && shown.fleet.devices === 0 && shown.fleet.unknownDevices === 0;
  // A token that is limited to some devices sees those.
  const isLimited = error?.code === 'FORBIDDEN';
  useEffect(() => {
    if (isEmpty && may('CONFIGURE')) navigate(href('/start'), { replace: true });
    else if (isLimited) navigate(href('/devices'), { replace: true });
  }, [isEmpty, isLimited]);
  if (workspace === null)
    return (
      <main class="page">
        <Note>
          You are in no workspace yet. An ADMIN of one can invite you; an operator makes one on{' '}
          <a href={href('/access')}>Access</a>.
        </Note>
      </main>
    );
  if (shown === null)
    return (
      <main class="page" aria-busy={error === null}>
        {error !== null && !isLimited && <Note kind="error">{error.message}</Note>}
        {error === null && <div class="waiting home-waiting" />}
      </main>
    );
  const { fleet, name } = shown;
  return (
    <main class="page home">
      <div class="page-head">
        <h1 class="grow">{name}</h1>
      </div>
      <Figures fleet={fleet} />
      {fleet.failingDecoders.length > 0 && <Failing decoders={fleet.failingDecoders} />}
      <Places />
      <DaysCard days={fleet.valuesADay} />
    </main>
  );
}

function Figures({ fleet }: { fleet: Fleet }) {
  const { devices, online, lowBattery, firing, unknownDevices, failingDecoders } = fleet;
  const [failing] = failingDecoders;
  const failingTo =
    failingDecoders.length === 1 && failing !== undefined ? callsOf(failing.product.id) : '#failing-decoders';
  return (
    <ul class="figures">
      <Figure name="Devices" count={devices} to={href('/devices')} />
      <Figure name="Online" count={online} to={href('/devices', { online: 'yes' })} state="good" />
      <Figure name="Silent" count={devices - online} to={href('/devices', { online: 'no' })} state="warn" />
      {lowBattery !== null && (
        <Figure name="Low battery" count={lowBattery} to={href('/devices', { battery: 'low' })} state="warn" />
      )}
      <Figure name="Firing alerts" count={firing} to={href('/alerts', { state: 'FIRING' })} state="bad" />
      <Figure name="Unknown devices" count={unknownDevices} to={href('/unknown')} state="warn" />
      <Figure name="Failing decoders" count={failingDecoders.length} to={failingTo} state="bad" />
    </ul>
  );
}

interface FigureProps {
  name: string;
  count: number;
  /** The list that it counts. */
  to: string;
  /** How it is drawn when it is not 0. */
  state?: 'good' | 'warn' | 'bad';
}

function Figure({ name, count, to, state }: FigureProps) {
  return (
    <li>
      <a class="card figure" href={to} data-state={count > 0 ? state : undefined}>
        <strong>{countText(count)}</strong>
        <span>{name}</span>
      </a>
    </li>
  );
}

function callsOf(product: string): string {
  return href(`/products/${product}/calls`, { status: 'DECODER_FAILED' });
}

function Failing({ decoders }: { decoders: Fleet['failingDecoders'] }) {
  return (
    <section class="card" id="failing-decoders" aria-label="Failing decoders">
      <header class="card-head">
        <h2>Failing decoders</h2>
      </header>
      <ul class="failing">
        {decoders.map(({ product, lastFailedAt }) => (
          <li key={product.id}>
            <a href={callsOf(product.id)}>{product.name}</a>
            <small>
              failed <TimeAgo at={lastFailedAt} />
            </small>
            <a class="button quiet" href={href(`/products/${product.id}/decoder`)}>
              Decoder
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The map, whose code and places come after the figures. */
function Places() {
  const [Card, setCard] = useState<ComponentType | null>(null);
  useEffect(() => {
    // Without it the page is complete but for the map.
    void import('./places-card.tsx').then(
      ({ PlacesCard }) => setCard(() => PlacesCard),
      () => {},
    );
  }, []);
  return Card === null ? null : <Card />;
}
