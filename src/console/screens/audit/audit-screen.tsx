import { useEffect, useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useStore } from '../../api/store.ts';
import { useAction } from '../../api/use-action.ts';
import { useQuery } from '../../api/use-query.ts';
import { href, setParameters, usePlace } from '../../navigation/place.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { Note } from '../../parts/note.tsx';
import { PeriodInputs } from '../../parts/period-inputs.tsx';
import { pickWithKeys } from '../../parts/pick-with-keys.ts';
import { dateTimeText } from '../../parts/time-text.ts';
import { may, session, workspaceId } from '../../session/session.ts';
import { timeOf } from '../../time/local-time.ts';
import { AuditPage, type AuditParts } from './audit.graphql.ts';
import { argumentsText, OPERATIONS, operationText, placeOf } from './audit-words.ts';
import './audit.css';
import { t } from '../../texts/texts.ts';

type Page = NonNullable<(typeof AuditPage)['data']>['auditLog'];

/** The audit log: who changed what, when, in the workspace or of the whole server. */
export function AuditScreen() {
  useTitle(t('Audit log'));
  const workspace = useStore(workspaceId);
  const now = useStore(session);
  const { query } = usePlace();
  const isOperator = now.state === 'in' && now.viewer.user?.operator === true;
  const isAdmin = may('ADMIN');
  const ofServer = isOperator && (!isAdmin || query.get('of') === 'server');
  const [from, to] = [timeOf(query.get('from')), timeOf(query.get('to'))];
  const [userId, operation] = [query.get('user'), query.get('operation')];
  const variables = {
    id: workspace ?? '',
    workspaceId: ofServer ? null : workspace,
    from: from === null ? null : new Date(from).toISOString(),
    to: to === null ? null : new Date(to).toISOString(),
    userId,
    operation,
    isRead: ofServer || may('READ'),
    ofWorkspace: !ofServer && may('READ'),
    ofServer,
  };
  const isAllowed = ofServer || isAdmin;
  const { data, error, loading, fresh } = useQuery(AuditPage, isAllowed ? variables : null);
  const [further, setFurther] = useState<readonly Page[]>([]);
  useEffect(() => setFurther([]), [data]);
  const going = useAction(async (after: string | null) => {
    const { auditLog } = await request(AuditPage, { ...variables, ofWorkspace: false, ofServer: false, after });
    setFurther((before) => [...before, auditLog]);
  });
  const pages = data === null ? [] : [data.auditLog, ...further];
  const entries = pages.flatMap(({ edges }) => edges.map(({ node }) => node));
  const last = pages.at(-1)?.pageInfo;
  const people = data?.users?.edges.map(({ node }) => node) ?? data?.workspace?.members.map(({ user }) => user) ?? [];
  const isNarrowed = ['from', 'to', 'user', 'operation'].some((name) => query.has(name));
  return (
    <main class="page audit">
      <header class="page-head">
        <h1 class="grow">Audit log</h1>
        {isOperator && isAdmin && (
          <div class="tabs" role="group" aria-label="Which log">
            <a href={href('/audit')} aria-current={ofServer ? undefined : 'page'}>
              This workspace
            </a>
            <a href={href('/audit', { of: 'server' })} aria-current={ofServer ? 'page' : undefined}>
              Whole server
            </a>
          </div>
        )}
      </header>
      {!isAllowed && <Note>The audit log is for administrators of the workspace.</Note>}
      {isAllowed && (
        <div class="audit-filter" role="group" aria-label="Which entries are shown">
          <label>
            By
            <select
              value={userId ?? ''}
              onKeyDown={pickWithKeys}
              onChange={(event) => setParameters({ user: event.currentTarget.value })}
            >
              <option value="">anybody</option>
              {userId !== null && people.every(({ id }) => id !== userId) && <option value={userId}>one person</option>}
              {people.map(({ id, email }) => (
                <option key={id} value={id}>
                  {email}
                </option>
              ))}
            </select>
          </label>
          <label>
            What
            <select
              value={operation ?? ''}
              onKeyDown={pickWithKeys}
              onChange={(event) => setParameters({ operation: event.currentTarget.value })}
            >
              <option value="">anything</option>
              {OPERATIONS.map((name) => (
                <option key={name} value={name} translate={false}>
                  {operationText(name)}
                </option>
              ))}
            </select>
          </label>
          <PeriodInputs from={from} to={to} />
          {isNarrowed && (
            <button
              type="button"
              class="quiet"
              onClick={() => setParameters({ from: null, to: null, user: null, operation: null })}
            >
              Show all
            </button>
          )}
        </div>
      )}
      {error !== null && <Note kind="error">{error.message}</Note>}
      {going.error !== null && <Note kind="error">{going.error}</Note>}
      {isAllowed && (
        <section class="card" aria-label="Entries" aria-busy={loading || !fresh}>
          {data !== null && entries.length === 0 && (
            <p class="nothing">{isNarrowed ? 'Nothing fits.' : 'Nothing was changed yet.'}</p>
          )}
          <ol class="audit-entries">
            {entries.map((entry) => (
              <Entry key={entry.id} entry={entry} />
            ))}
          </ol>
          {last?.hasNextPage === true && (
            <div class="row audit-more">
              <button type="button" disabled={going.busy} onClick={() => void going.run(last.endCursor)}>
                Older
              </button>
            </div>
          )}
        </section>
      )}
    </main>
  );
}

function Entry({ entry }: { entry: AuditParts }) {
  const { at, operation, userId, userEmail, tokenName } = entry;
  const place = placeOf(entry);
  const text = argumentsText(entry.arguments);
  const who =
    userEmail ?? (userId === null ? t('token “{text}”', { text: tokenName ?? t('that is gone') }) : t('somebody'));
  return (
    <li>
      <time dateTime={at}>{dateTimeText(new Date(at))}</time>
      <div class="audit-deed">
        <strong translate={false}>
          {place === null ? operationText(operation) : <a href={href(place)}>{operationText(operation)}</a>}
        </strong>{' '}
        <span class="muted">by {who}</span>
        {entry.arguments !== undefined && (
          <details>
            <summary>{text === '' ? 'Details' : text}</summary>
            <pre>{JSON.stringify(entry.arguments, null, 2)}</pre>
            <small class="mono">
              {operation}
              {userEmail !== null && tokenName !== null && `, with the token “${tokenName}”`}
            </small>
          </details>
        )}
      </div>
    </li>
  );
}
