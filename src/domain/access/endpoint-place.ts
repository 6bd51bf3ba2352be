import { forbidden } from '../../errors.ts';
import type { Access, ProductPlace } from './access.ts';

/** The place of an endpoint's row, for `Access`; its workspace need not be loaded. */
export function placeOfEndpoint(endpoint: { id: string; workspace: { id: string } }): ProductPlace {
  return { id: endpoint.id, workspaceId: endpoint.workspace.id };
}

/** Required to see the endpoints of a workspace, which tell of all of it: READ or CONFIGURE, without limits. */
export function requireEndpoints(access: Access, workspaceId: string): void {
  access.requireWorkspace(workspaceId, access.may(workspaceId, 'READ') ? 'READ' : 'CONFIGURE');
  if (access.limited || access.fields !== null)
    throw forbidden('This token is limited to some products, devices or fields; endpoints are of the whole workspace.');
}
