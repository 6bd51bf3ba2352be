import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { DashboardGrid } from '../../dashboard/dashboard-grid.tsx';
import { WidgetSheet } from '../../dashboard/widget-sheet.tsx';
import { type DashboardField, savedWidgets, type Widget, widgetsOf } from '../../dashboard/widgets.ts';
import { useParameter } from '../../navigation/place.ts';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { toast } from '../../parts/toasts.tsx';
import { may } from '../../session/session.ts';
import { UpdateProduct } from './product.graphql.ts';
import { t } from '../../texts/texts.ts';

interface DashboardCardProps {
  productId: string;
  dashboard: unknown;
  fields: readonly DashboardField[];
  devices: readonly { id: string; name: string }[];
  /** Resolves when the changed product is fetched. */
  onChanged: () => Promise<void>;
}

/** The dashboard that all devices of a product share, shown with the values of one of them. */
export function DashboardCard({ productId, dashboard, fields, devices, onChanged }: DashboardCardProps) {
  const saved = widgetsOf(dashboard);
  const [draft, setDraft] = useState<readonly Widget[] | null>(null);
  const [edited, setEdited] = useState<number | 'new' | null>(null);
  const [chosen, setChosen] = useParameter('device');
  const device = devices.find(({ id }) => id === chosen) ?? devices[0] ?? null;
  const widgets = draft ?? saved;
  const saving = useAction(async () => {
    await request(UpdateProduct, { id: productId, input: { dashboard: { widgets: savedWidgets(widgets) } } });
    // Keep the draft until then, or the old dashboard would flash up.
    await onChanged();
    toast(t('The dashboard is saved for all devices of the product.'));
    setDraft(null);
  });
  const head = useRef<HTMLDivElement>(null);
  const isEditing = draft !== null;
  const wasEditing = useRef(isEditing);
  useLayoutEffect(() => {
    // Move the focus from the removed button to the first one in its place.
    if (wasEditing.current !== isEditing && document.activeElement === document.body)
      head.current?.querySelector<HTMLElement>('button:not(:disabled)')?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);
  const put = (widget: Widget): void => {
    setDraft(edited === 'new' ? [...widgets, widget] : widgets.map((one, at) => (at === edited ? widget : one)));
    setEdited(null);
  };
  return (
    <section class="card" aria-labelledby="dashboard-title">
      <div class="card-head" ref={head}>
        <h2 id="dashboard-title" class="grow">
          Dashboard
        </h2>
        {devices.length > 0 && (
          <select
            class="dashboard-device"
            aria-label="With the values of"
            value={device?.id}
            onChange={(event) => setChosen(event.currentTarget.value)}
          >
            {devices.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
        {may('CONFIGURE') && draft === null && (
          <button type="button" onClick={() => setDraft(saved)}>
            <Icon name="pencil" /> Edit
          </button>
        )}
        {draft !== null && (
          <>
            <button type="button" onClick={() => setEdited('new')}>
              <Icon name="plus" /> Add widget
            </button>
            <button type="button" onClick={() => setDraft(null)}>
              Cancel
            </button>
            <button type="button" class="primary" disabled={saving.busy} onClick={() => void saving.run()}>
              Save dashboard
            </button>
          </>
        )}
      </div>
      <div class="inside stack">
        {saving.error !== null && <Note kind="error">{saving.error}</Note>}
        {widgets.length === 0 && (
          <p class="hint">
            {draft === null ? 'No widgets yet.' : 'Add a widget, then drag it to its place.'} Every device of this
            product shows them with its own values.
          </p>
        )}
        <DashboardGrid
          widgets={widgets}
          fields={fields}
          deviceId={device?.id ?? null}
          level={3}
          editing={
            draft === null
              ? null
              : {
                  onChange: setDraft,
                  onEdit: setEdited,
                  onRemove: (index) => setDraft(widgets.filter((_, at) => at !== index)),
                }
          }
        />
      </div>
      {edited !== null && (
        <WidgetSheet
          widget={edited === 'new' ? null : (widgets[edited] ?? null)}
          widgets={widgets}
          fields={fields}
          onClose={() => setEdited(null)}
          onDone={put}
        />
      )}
    </section>
  );
}
