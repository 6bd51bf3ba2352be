import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import type { SourceScope } from '../../dashboard/use-scopes.ts';
import type { Source, Widget } from '../../dashboard/widgets.ts';
import { href, navigate, setParameters } from '../../navigation/place.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit } from '../../parts/form-texts.ts';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { toast } from '../../parts/toasts.tsx';
import { may } from '../../session/session.ts';
import { DeleteDashboard as Delete } from './dashboards.graphql.ts';
import { NewDashboardLink } from './new-dashboard-link.tsx';
import { t } from '../../texts/texts.ts';

interface DashboardMenuProps {
  id: string;
  name: string;
  widgets: readonly Widget[];
  scopeOf: (source: Source | undefined) => SourceScope | null;
}

/** What can be done with a dashboard besides editing it. */
export function DashboardMenu({ id, name, widgets, scopeOf }: DashboardMenuProps) {
  const [open, setOpen] = useState<'link' | 'delete' | null>(null);
  const deleting = useAction(async () => {
    await request(Delete, { id });
    toast(t('Deleted {name}.', { name }));
    navigate(href('/dashboards'), { replace: true });
  });
  const close = (): void => setOpen(null);
  return (
    <>
      <Menu label="More" button={<Icon name="more" />}>
        <button type="button" onClick={() => setParameters({ kiosk: '1' }, { push: true })}>
          Alone on the screen
        </button>
        <button type="button" onClick={() => setParameters({ kiosk: '1', turn: '30' }, { push: true })}>
          All dashboards in turn
        </button>
        {may('ADMIN') && (
          <button type="button" onClick={() => setOpen('link')}>
            Public link…
          </button>
        )}
        {may('CONFIGURE') && (
          <button type="button" class="danger" onClick={() => setOpen('delete')}>
            Delete…
          </button>
        )}
      </Menu>
      {open === 'link' && <NewDashboardLink id={id} name={name} widgets={widgets} scopeOf={scopeOf} onClose={close} />}
      {open === 'delete' && (
        <Dialog title={`Delete ${name}?`} onClose={close}>
          <form class="stack" onSubmit={onSubmit(deleting.run)}>
            <p>The devices and values that it shows stay. Public links of it end.</p>
            <FormEnd action={deleting} onCancel={close} cancel="Keep it" danger>
              Delete dashboard
            </FormEnd>
          </form>
        </Dialog>
      )}
    </>
  );
}
