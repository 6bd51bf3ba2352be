import { badInput, forbidden } from '../../errors.ts';
import type { Access } from './access.ts';

/** The workspace meant when none is named: the only one that the token sees. `path` is where another could be named. */
export function soleWorkspace(access: Access, path: string): string {
  const [id, ...others] = access.workspaceIds();
  if (id === undefined) throw forbidden('This token has access to no workspace.');
  if (others.length > 0)
    throw badInput(`${path}: this token has access to ${others.length + 1} workspaces; say which one.`);
  return id;
}
