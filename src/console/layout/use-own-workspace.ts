import { useEffect } from 'preact/hooks';
import { useQuery } from '../api/use-query.ts';
import { usePlace } from '../navigation/place.ts';
import { toast } from '../parts/toasts.tsx';
import { chooseWorkspace, workspaceId } from '../session/session.ts';
import { DeviceWorkspace, ProductWorkspace } from './workspace-of.graphql.ts';
import { t } from '../texts/texts.ts';

const THING = /^\/(devices|products)\/([^/]+)/;

/** Looks at the workspace of the device or product that the address names, and says so when that is another one. */
export function useOwnWorkspace(workspaces: readonly { id: string; name: string }[]): void {
  const { path } = usePlace();
  const [, kind = null, id = ''] = (workspaces.length > 1 ? THING.exec(path) : null) ?? [];
  const device = useQuery(DeviceWorkspace, kind === 'devices' ? { id } : null);
  const product = useQuery(ProductWorkspace, kind === 'products' ? { id } : null);
  const found =
    kind === 'devices' && device.fresh
      ? device.data?.device.workspaceId
      : kind === 'products' && product.fresh
        ? product.data?.product.workspaceId
        : undefined;
  useEffect(() => {
    const own = workspaces.find((workspace) => workspace.id === found);
    if (own === undefined || own.id === workspaceId.get()) return;
    chooseWorkspace(own.id);
    toast(t('Now in {name}', { name: own.name }));
  }, [found, path]);
}
