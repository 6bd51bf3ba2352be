import { useMemo } from 'preact/hooks';
import { AlertHead } from '../../alerts/alert-head.tsx';
import { AcknowledgeAlert, type AlertParts } from '../../alerts/alerts.graphql.ts';
import { request } from '../../api/request.ts';
import { useStore } from '../../api/store.ts';
import { useAction } from '../../api/use-action.ts';
import { href, setParameters, usePlace } from '../../navigation/place.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { Note } from '../../parts/note.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { SeverityChip } from '../../rules/severity.tsx';
import { may, workspaceId } from '../../session/session.ts';
import { durationText } from '../../time/duration.ts';
import { readFilter } from './alert-filter.ts';
import { AlertFilters } from './alert-filters.tsx';
import { AlertPanel } from './alert-panel.tsx';
import { StateChip } from './state-chip.tsx';
import { useAlertList } from './use-alert-list.ts';
import './alerts.css';
import { t } from '../../texts/texts.ts';

/** The alerts of the workspace, live, and what is done about them. */
export function AlertsScreen() {
  useTitle(t('Alerts'));
  const workspace = useStore(workspaceId);
  const { query } = usePlace();
  const filter = useMemo(() => readFilter(query), [query]);
  const list = useAlertList(workspace, filter);
  const { alerts, isBusy, error, older, put } = list;
  const chosenId = query.get('alert');
  const chosen = alerts.find(({ id }) => id === chosenId) ?? null;
  const acknowledging = useAction(async (id: string) => {
    put((await request(AcknowledgeAlert, { id })).acknowledgeAlert);
    // Its button goes.
    document.getElementById(rowId(id))?.focus();
  });
  return (
    <main class="page alerts-page">
      <AlertHead page="alerts" />
      <AlertFilters workspaceId={workspace} products={list.products} filter={filter} />
      {error !== null && <Note kind="error">{error}</Note>}
      {acknowledging.error !== null && <Note kind="error">{acknowledging.error}</Note>}
      <div class="alert-list" data-chosen={chosen !== null}>
        <section class="card" aria-label="Alerts" aria-busy={isBusy}>
          {alerts.length === 0 && (
            <p class="hint nothing">
              {isBusy ? 'Looking…' : query.toString() === '' ? 'Nothing fires.' : 'No alert is like that.'}
            </p>
          )}
          <ol class="alert-rows">
            {alerts.map((alert) => (
              <AlertRow
                key={alert.id}
                alert={alert}
                isChosen={alert.id === chosenId}
                isBusy={acknowledging.busy}
                onAcknowledge={() => void acknowledging.run(alert.id)}
              />
            ))}
          </ol>
          {older !== null && (
            <div class="row alert-more">
              <button type="button" disabled={isBusy} onClick={older}>
                Older
              </button>
            </div>
          )}
        </section>
        {chosen !== null && (
          <AlertPanel
            key={chosen.id}
            alert={chosen}
            onChanged={put}
            onClose={() => {
              document.getElementById(rowId(chosen.id))?.focus();
              setParameters({ alert: null });
            }}
          />
        )}
      </div>
    </main>
  );
}

function rowId(alertId: string): string {
  return `alert-${alertId}`;
}

interface AlertRowProps {
  alert: AlertParts;
  isChosen: boolean;
  isBusy: boolean;
  onAcknowledge: () => void;
}

function AlertRow({ alert, isChosen, isBusy, onAcknowledge }: AlertRowProps) {
  const { id, severity, state, startedAt, endedAt, acknowledgedAt, rule, device } = alert;
  const { search } = location;
  return (
    <li data-state={state}>
      <a
        id={rowId(id)}
        href={href('/alerts', { ...Object.fromEntries(new URLSearchParams(search)), alert: id })}
        aria-current={isChosen ? 'true' : undefined}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
          event.preventDefault();
          setParameters({ alert: id }, { push: true });
        }}
      >
        <SeverityChip severity={severity} />
        <span class="alert-what">
          <strong>{rule.name}</strong>
          {device.name} <small>{rule.product.name}</small>
          <StateChip alert={alert} />
        </span>
        <small>
          <TimeAgo at={startedAt} />
          {endedAt !== null && `, for ${durationText((Date.parse(endedAt) - Date.parse(startedAt)) / 1_000)}`}
        </small>
      </a>
      <span class="alert-deed">
        {may('CONFIGURE') && state !== 'RESOLVED' && acknowledgedAt === null && (
          <button
            type="button"
            class="quiet"
            disabled={isBusy}
            aria-label={`Acknowledge ${rule.name} of ${device.name}`}
            onClick={onAcknowledge}
          >
            Acknowledge
          </button>
        )}
      </span>
    </li>
  );
}
