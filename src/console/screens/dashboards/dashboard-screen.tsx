import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useStore } from '../../api/store.ts';
import { useAction } from '../../api/use-action.ts';
import { useQuery } from '../../api/use-query.ts';
import { WidgetGrid } from '../../dashboard/dashboard-grid.tsx';
import { useScopes } from '../../dashboard/use-scopes.ts';
import { savedWidgets, type Source, type Widget, widgetsOf, type WidgetScope } from '../../dashboard/widgets.ts';
import { href, setParameters, useParameter } from '../../navigation/place.ts';
import type { ScreenProps } from '../../navigation/routes.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { toast } from '../../parts/toasts.tsx';
import { may, workspaceId } from '../../session/session.ts';
import { DashboardMenu } from './dashboard-menu.tsx';
import { OneDashboard, SaveDashboard } from './dashboards.graphql.ts';
import { Kiosk } from './kiosk.tsx';
import { SourcedWidgetSheet } from './sourced-widget-sheet.tsx';
import './dashboards.css';
import { t } from '../../texts/texts.ts';

const NOTHING: WidgetScope = { devices: [], fields: [] };
const TITLE = 'dashboard-name';

/** A dashboard over devices of the workspace: shown, edited, or alone on a wall. */
export function DashboardScreen({ params }: ScreenProps) {
  const id = params['id'] ?? '';
  const workspace = useStore(workspaceId);
  const { data, error, refetch } = useQuery(OneDashboard, { id });
  const dashboard = data?.dashboard ?? null;
  useTitle(dashboard?.name ?? null);
  const [isKiosk] = useParameter('kiosk');
  const [isEdited] = useParameter('edit');
  const [changed, setDraft] = useState<{ name: string; widgets: readonly Widget[] } | null>(null);
  const [edited, setEdited] = useState<number | 'new' | null>(null);
  const saved =
    dashboard === null ? null : { name: dashboard.name, widgets: widgetsOf({ widgets: dashboard.widgets }) };
  const isEditing = isEdited === '1' && isKiosk !== '1' && may('CONFIGURE');
  const draft = isEditing ? (changed ?? saved) : null;
  const { name, widgets } = draft ?? saved ?? { name: '', widgets: [] };
  const scopes = useScopes(
    workspace,
    widgets.map(({ source }) => source),
  );
  const end = (): void => {
    setDraft(null);
    setParameters({ edit: null });
  };
  const saving = useAction(async () => {
    await request(SaveDashboard, { id, name, widgets: savedWidgets(widgets) });
    // Keep the draft until then, or the old dashboard would flash up.
    await refetch();
    toast(t('The dashboard is saved.'));
    end();
  });
  const change = (next: readonly Widget[]): void => setDraft({ name, widgets: next });
  if (error !== null && dashboard === null)
    return (
      <main class="page">
        <Note kind="error">{error.message}</Note>
        <a href={href('/dashboards')}>All dashboards</a>
      </main>
    );
  if (dashboard === null) return <main class="page" aria-busy="true" />;
  const isReady = widgets.every(({ source }) => source === undefined || scopes.of(source) !== null);
  return (
    <main class="page">
      {isKiosk === '1' && <Kiosk id={id} />}
      <div class="page-head">
        {draft === null ? (
          <h1 class="grow">{name}</h1>
        ) : (
          <input
            class="grow"
            id={TITLE}
            aria-label="Name of the dashboard"
            required
            maxLength={200}
            value={name}
            onInput={(event) => setDraft({ name: event.currentTarget.value, widgets })}
          />
        )}
        {isKiosk !== '1' && draft === null && (
          <>
            {may('CONFIGURE') && (
              <button type="button" onClick={() => setParameters({ edit: '1' })}>
                <Icon name="pencil" /> Edit
              </button>
            )}
            <DashboardMenu id={id} name={name} widgets={widgets} scopeOf={scopes.of} />
          </>
        )}
        {draft !== null && (
          <>
            <button type="button" onClick={() => setEdited('new')}>
              <Icon name="plus" /> Add widget
            </button>
            <button type="button" onClick={end}>
              Cancel
            </button>
            <button type="button" class="primary" disabled={saving.busy} onClick={() => void saving.run()}>
              Save dashboard
            </button>
          </>
        )}
      </div>
      {saving.error !== null && <Note kind="error">{saving.error}</Note>}
      {scopes.error !== null && <Note kind="error">{scopes.error}</Note>}
      {widgets.length === 0 && (
        <Note>
          {draft === null
            ? 'No widgets yet.'
            : 'Add a widget, choose the devices that it shows, then drag it to its place.'}
        </Note>
      )}
      {isReady && (
        <WidgetGrid
          widgets={widgets}
          scopeOf={({ source }: { source?: Source }) => scopes.of(source) ?? NOTHING}
          level={2}
          editing={
            draft === null
              ? null
              : {
                  onChange: change,
                  onEdit: setEdited,
                  onRemove: (index) => change(widgets.filter((_, at) => at !== index)),
                }
          }
        />
      )}
      {edited !== null && (
        <SourcedWidgetSheet
          widget={edited === 'new' ? null : (widgets[edited] ?? null)}
          widgets={widgets}
          onClose={() => setEdited(null)}
          onDone={(widget) => {
            change(edited === 'new' ? [...widgets, widget] : widgets.map((one, at) => (at === edited ? widget : one)));
            setEdited(null);
          }}
        />
      )}
    </main>
  );
}
