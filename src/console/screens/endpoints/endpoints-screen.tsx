import { useState } from 'preact/hooks';
import { AlertHead } from '../../alerts/alert-head.tsx';
import { useStore } from '../../api/store.ts';
import { useQuery } from '../../api/use-query.ts';
import { href } from '../../navigation/place.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { may, workspaceId } from '../../session/session.ts';
import { EndpointSheet } from './endpoint-sheet.tsx';
import { EndpointState } from './endpoint-state.tsx';
import { eventWords, KINDS } from './endpoint-words.ts';
import { Endpoints } from './endpoints.graphql.ts';
import './endpoints.css';
import { t } from '../../texts/texts.ts';

/** The endpoints of the workspace: who is told, of which events. */
export function EndpointsScreen() {
  useTitle(t('Endpoints'));
  const workspace = useStore(workspaceId);
  const mayChange = may('CONFIGURE');
  const { data, error, loading, refetch } = useQuery(
    Endpoints,
    workspace === null ? null : { workspaceId: workspace, mayChange },
  );
  const [isNew, setNew] = useState(false);
  const endpoints = data?.workspace.endpoints ?? [];
  return (
    <main class="page endpoints-page">
      <AlertHead page="endpoints">
        {mayChange && (
          <button type="button" class="primary" onClick={() => setNew(true)}>
            <Icon name="plus" /> New endpoint
          </button>
        )}
      </AlertHead>
      {error !== null && <Note kind="error">{error.message}</Note>}
      <section class="card" aria-label="Endpoints" aria-busy={loading}>
        {endpoints.length === 0 && (
          <p class="hint nothing">
            {loading
              ? 'Looking…'
              : 'Nobody is told yet. An endpoint takes events: a webhook, mail addresses, or an Alertmanager.'}
          </p>
        )}
        <ul class="endpoints">
          {endpoints.map((endpoint) => {
            const { id, name, kind, url, addresses, events, products, tags } = endpoint;
            return (
              <li key={id}>
                <div class="grow">
                  <a href={href(`/endpoints/${id}`)}>{name}</a> <small>{KINDS[kind]}</small>
                  {(url ?? addresses) != null && <p class="mono">{url ?? addresses?.join(', ')}</p>}
                  <p class="hint">
                    {eventWords(events)}
                    {products !== null && `, of ${products.map((product) => product.name).join(', ')}`}
                    {tags !== null && tags.length > 0 && `, with ${tags.join(', ')}`}
                  </p>
                </div>
                <EndpointState endpoint={endpoint} />
              </li>
            );
          })}
        </ul>
      </section>
      {isNew && <EndpointSheet endpoint={null} onClose={() => setNew(false)} onSaved={() => void refetch()} />}
    </main>
  );
}
