import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useStore } from '../../api/store.ts';
import { useAction } from '../../api/use-action.ts';
import { useQuery } from '../../api/use-query.ts';
import { href, navigate } from '../../navigation/place.ts';
import { useTitle } from '../../navigation/use-title.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { may, workspaceId } from '../../session/session.ts';
import { Dashboards, SaveDashboard } from './dashboards.graphql.ts';
import { t } from '../../texts/texts.ts';

/** The dashboards of the workspace over many devices. */
export function DashboardsScreen() {
  useTitle(t('Dashboards'));
  const workspace = useStore(workspaceId);
  const { data, error } = useQuery(Dashboards, workspace === null ? null : { workspaceId: workspace });
  const [isNew, setNew] = useState(false);
  const dashboards = data?.workspace.dashboards ?? [];
  return (
    <main class="page">
      <div class="page-head">
        <h1 class="grow">Dashboards</h1>
        {may('CONFIGURE') && (
          <button type="button" class="primary" onClick={() => setNew(true)}>
            <Icon name="plus" /> New dashboard
          </button>
        )}
      </div>
      {error !== null && <Note kind="error">{error.message}</Note>}
      {data !== null && dashboards.length === 0 ? (
        <Note>
          There is no dashboard over several devices yet. What each device of a product shows is on the page of the
          product.
        </Note>
      ) : (
        <div class="card scroll-x" aria-busy={data === null}>
          <table>
            <thead>
              <tr>
                <th>Name</th>
                <th>Made</th>
              </tr>
            </thead>
            <tbody>
              {dashboards.map(({ id, name, createdAt }) => (
                <tr key={id}>
                  <td>
                    <a href={href(`/dashboards/${id}`)}>{name}</a>
                  </td>
                  <td>
                    <TimeAgo at={createdAt} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {isNew && <NewDashboard onClose={() => setNew(false)} />}
    </main>
  );
}

/** The form for a new dashboard, which leads to its page. */
function NewDashboard({ onClose }: { onClose: () => void }) {
  const creating = useAction(async (form: HTMLFormElement) => {
    const { saveDashboard } = await request(SaveDashboard, {
      workspaceId: workspaceId.get(),
      name: textsOf(form)('name'),
      widgets: [],
    });
    navigate(href(`/dashboards/${saveDashboard.id}`, { edit: '1' }));
  });
  return (
    <Dialog title="New dashboard" onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(creating.run)}>
        <label>
          Name
          <input name="name" required maxLength={200} autofocus />
        </label>
        <FormEnd action={creating} onCancel={onClose}>
          Make dashboard
        </FormEnd>
      </form>
    </Dialog>
  );
}
