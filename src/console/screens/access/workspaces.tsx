import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import type { TokenScope } from '../../api/schema-types.ts';
import { useStore } from '../../api/store.ts';
import { useAction } from '../../api/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { Icon } from '../../parts/icon.tsx';
import { chooseWorkspace, loadSession, workspaceId } from '../../session/session.ts';
import { AddWorkspace, NameWorkspace, RemoveWorkspace } from './access.graphql.ts';
import { t } from '../../texts/texts.ts';

interface Workspace {
  id: string;
  name: string;
  /** The rights of the reader there. */
  scopes: readonly TokenScope[];
}

/** Letters of an id that tell it from others: random ones, at its end. */
const LETTERS = 6;
const NONE: Workspace = { id: '', name: '', scopes: [] };

interface WorkspacesProps {
  workspaces: readonly Workspace[];
  /** True when workspaces may be created. */
  isOperator: boolean;
  onChanged: () => void;
}

/** The visible workspaces: choose, create, rename, delete. */
export function Workspaces({ workspaces, isOperator, onChanged }: WorkspacesProps) {
  const chosen = useStore(workspaceId);
  const [sheet, setSheet] = useState<{ what: 'new' | 'name' | 'delete'; workspace: Workspace } | null>(null);
  const done = (): void => {
    setSheet(null);
    onChanged();
    void loadSession();
  };
  return (
    <section class="card" aria-label="Workspaces">
      <header class="card-head">
        <h2 class="grow">Workspaces</h2>
        {isOperator && (
          <button type="button" onClick={() => setSheet({ what: 'new', workspace: NONE })}>
            <Icon name="plus" /> Workspace
          </button>
        )}
      </header>
      <ul class="members">
        {workspaces.map((workspace) => (
          <li key={workspace.id}>
            <div class="grow">
              <strong>{workspace.name}</strong>{' '}
              {workspaces.some(({ id, name }) => name === workspace.name && id !== workspace.id) && (
                // Two of one name are told apart by their ids.
                <small class="mono">{workspace.id.slice(-LETTERS)} </small>
              )}
              {workspace.id === chosen && <span class="chip">current</span>}
            </div>
            {workspace.id !== chosen && (
              <button
                type="button"
                aria-label={`Switch to ${workspace.name}`}
                onClick={() => chooseWorkspace(workspace.id)}
              >
                Switch to it
              </button>
            )}
            {workspace.scopes.includes('ADMIN') && (
              <button
                type="button"
                class="quiet"
                aria-label={`Rename ${workspace.name}`}
                onClick={() => setSheet({ what: 'name', workspace })}
              >
                Rename
              </button>
            )}
            {workspace.scopes.includes('ADMIN') && workspace.scopes.includes('CONFIGURE') && (
              <button
                type="button"
                class="quiet danger"
                aria-label={`Delete ${workspace.name}`}
                onClick={() => setSheet({ what: 'delete', workspace })}
              >
                Delete
              </button>
            )}
          </li>
        ))}
      </ul>
      {sheet !== null && <Sheet {...sheet} onClose={() => setSheet(null)} onDone={done} />}
    </section>
  );
}

interface SheetProps {
  what: 'new' | 'name' | 'delete';
  workspace: Workspace;
  onClose: () => void;
  onDone: () => void;
}

function Sheet({ what, workspace, onClose, onDone }: SheetProps) {
  const { id, name } = workspace;
  const acting = useAction(async (form: HTMLFormElement) => {
    const given = textsOf(form)('name').trim();
    if (what === 'new') await request(AddWorkspace, { name: given });
    else if (what === 'name') await request(NameWorkspace, { id, name: given });
    else {
      if (given !== name) throw new Error(t('That is not its name.'));
      await request(RemoveWorkspace, { id });
    }
    onDone();
  });
  const titles = { new: t('New workspace'), name: t('Rename {name}', { name }), delete: t('Delete {name}?', { name }) };
  return (
    <Dialog title={titles[what]} onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(acting.run)}>
        {what === 'delete' && (
          <p>
            Its products, devices, measurements, calls and tokens go with it, for good. Type <strong>{name}</strong> to
            delete it.
          </p>
        )}
        <label>
          Name
          <input name="name" required maxLength={200} autofocus defaultValue={what === 'name' ? name : ''} />
        </label>
        <FormEnd action={acting} onCancel={onClose} danger={what === 'delete'}>
          {what === 'delete' ? 'Delete' : 'Save'}
        </FormEnd>
      </form>
    </Dialog>
  );
}
