import { useStore } from '../../api/store.ts';
import { useLookedAt } from '../../api/use-looked-at.ts';
import { href } from '../../navigation/place.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { Note } from '../../parts/note.tsx';
import { countText } from '../../texts/count-text.ts';
import { numberText } from '../../parts/value-text.ts';
import { session } from '../../session/session.ts';
import { t } from '../../texts/texts.ts';
import { LookAtServer } from './server.graphql.ts';
import './server.css';

const LOOK_EVERY_MS = 5_000;
const MEBIBYTE = 1_048_576;

type Installation = NonNullable<(typeof LookAtServer)['data']>['installation'];

/** How the server is, for its operators: nodes, database, replicas, Redis, and what waits. */
export function ServerScreen() {
  useTitle(t('Server'));
  const now = useStore(session);
  const isOperator = now.state === 'in' && now.viewer.user?.operator === true;
  const { data, error, loading } = useLookedAt(LookAtServer, isOperator ? {} : null, LOOK_EVERY_MS);
  const installation = data?.installation;
  return (
    <main class="page server">
      <header class="page-head">
        <div class="grow">
          <nav class="crumbs" aria-label="Where this is">
            <a href={href('/access')}>Access</a>
          </nav>
          <h1>Server</h1>
        </div>
      </header>
      {!isOperator && <Note>How the server is, is for operators of this server.</Note>}
      {error !== null && <Note kind="error">{error.message}</Note>}
      {isOperator && (
        <section class="card" aria-label="Parts" aria-busy={loading && data === null}>
          {installation !== undefined && <Parts installation={installation} />}
        </section>
      )}
      {installation !== undefined && <Waiting installation={installation} />}
    </main>
  );
}

function Parts({ installation }: { installation: Installation }) {
  const { version, database, nodes, workers, workersUp, redisConnected, replicas } = installation;
  const redis = redisConnected === null ? t('none') : redisConnected ? t('connected') : t('away');
  return (
    <dl>
      <dt>Version</dt>
      <dd>{version}</dd>
      <dt>Database</dt>
      <dd>{database === 'postgres' ? 'PostgreSQL' : 'SQLite'}</dd>
      <dt>Nodes</dt>
      <dd>{countText(nodes)}</dd>
      <dt>Workers</dt>
      <dd>{t('{up} of {workers} on this machine', { up: countText(workersUp), workers: countText(workers) })}</dd>
      <dt>Redis</dt>
      <dd>{redis}</dd>
      <dt>Replicas</dt>
      <dd>
        {replicas.length === 0 && t('none')}
        {replicas.map((replica) => (
          <div key={replica.name}>
            {replica.name} <span class="chip">{replica.used ? t('in use') : t('not in use')}</span>{' '}
            {replica.lagSeconds !== null && replica.lagBytes !== null && (
              <small>
                {t('{seconds} s, {megabytes} MB behind', {
                  seconds: numberText(Math.round(replica.lagSeconds * 10) / 10),
                  megabytes: numberText(Math.round((replica.lagBytes / MEBIBYTE) * 10) / 10),
                })}
              </small>
            )}
          </div>
        ))}
      </dd>
    </dl>
  );
}

function Waiting({ installation }: { installation: Installation }) {
  const { valuesWaiting, decoderCallsWaiting, deliveriesWaiting, lanes } = installation;
  const busy = lanes.filter(({ waiting, refused }) => waiting > 0 || refused > 0);
  return (
    <section class="card" aria-label="What waits">
      <header class="card-head">
        <h2>What waits</h2>
      </header>
      <dl>
        <dt>Values for their commit</dt>
        <dd>{countText(valuesWaiting)}</dd>
        <dt>Calls for a decoder</dt>
        <dd>{countText(decoderCallsWaiting)}</dd>
        <dt>Deliveries for endpoints</dt>
        <dd>{countText(deliveriesWaiting)}</dd>
      </dl>
      {busy.length === 0 && <p class="nothing">Nothing waits in any lane, and nothing was refused.</p>}
      {busy.length > 0 && (
        <table>
          <thead>
            <tr>
              <th scope="col">Lane</th>
              <th scope="col">Waiting</th>
              <th scope="col">Refused since the start</th>
            </tr>
          </thead>
          <tbody>
            {busy.map(({ name, waiting, refused }) => (
              <tr key={name}>
                <td>{name}</td>
                <td>{countText(waiting)}</td>
                <td>{countText(refused)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
