import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { href } from '../../navigation/place.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Note } from '../../parts/note.tsx';
import { toast } from '../../parts/toasts.tsx';
import { DeleteView, SaveView, type WorkspaceViews } from './devices.graphql.ts';
import { t } from '../../texts/texts.ts';

type View = WorkspaceViews['deviceViews'][number];

interface ViewsProps {
  workspaceId: string;
  views: readonly View[];
  /** The query of the present address, without the question mark. */
  query: string;
  mayShare: boolean;
  /** Called with the views after a change. */
  onChange: (views: WorkspaceViews) => void;
}

/** Saved views of the list: a menu to go to one, and a dialog to save the present one. */
export function Views({ workspaceId, views, query, mayShare, onChange }: ViewsProps) {
  const [isSaving, setSaving] = useState(false);
  const present = views.find((view) => view.query === query);
  return (
    <>
      <Menu label="Saved views" class="boxed" button={present?.name ?? t('Views')}>
        {views.map((view) => (
          <a
            key={`${view.name} ${view.shared}`}
            href={`${href('/devices')}${view.query === '' ? '' : `?${view.query}`}`}
            aria-current={view === present ? 'page' : undefined}
          >
            {view.name}
            {view.shared && <small>shared</small>}
          </a>
        ))}
        <button type="button" class="quiet" onClick={() => setSaving(true)}>
          <Icon name="plus" /> Save this view…
        </button>
      </Menu>
      {isSaving && (
        <SaveSheet {...{ workspaceId, views, query, mayShare, onChange }} onClose={() => setSaving(false)} />
      )}
    </>
  );
}

function SaveSheet({ workspaceId, views, query, mayShare, onChange, onClose }: ViewsProps & { onClose: () => void }) {
  const [name, setName] = useState(views.find((view) => view.query === query)?.name ?? '');
  const [isShared, setShared] = useState(false);
  const saving = useAction(async () => {
    const { saveDeviceView } = await request(SaveView, { workspaceId, name, query, shared: isShared });
    onChange(saveDeviceView);
    toast(t('View “{name}” saved.', { name: name.trim() }));
    onClose();
  });
  const deleting = useAction(async (view: View) => {
    const { deleteDeviceView } = await request(DeleteView, { workspaceId, name: view.name, shared: view.shared });
    onChange(deleteDeviceView);
  });
  const error = saving.error ?? deleting.error;
  const own = views.filter(({ shared }) => mayShare || !shared);
  return (
    <Dialog title="Save this view" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void saving.run();
        }}
      >
        <p class="hint">Filter, order and columns, as they are now. One of the same name is replaced.</p>
        <label>
          Name
          <input value={name} maxLength={100} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        {mayShare && (
          <label class="check">
            <input type="checkbox" checked={isShared} onChange={() => setShared(!isShared)} />
            For everybody in the workspace
          </label>
        )}
        {error !== null && <Note kind="error">{error}</Note>}
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={saving.busy || name.trim() === ''}>
            Save
          </button>
        </div>
        {own.length > 0 && (
          <ul class="views">
            {own.map((view) => (
              <li key={`${view.name} ${view.shared}`} class="row">
                <span>
                  {view.name} {view.shared && <small>shared</small>}
                </span>
                <button
                  type="button"
                  class="quiet"
                  aria-label={`Delete the view ${view.name}`}
                  disabled={deleting.busy}
                  onClick={() => void deleting.run(view)}
                >
                  <Icon name="trash" />
                </button>
              </li>
            ))}
          </ul>
        )}
      </form>
    </Dialog>
  );
}
