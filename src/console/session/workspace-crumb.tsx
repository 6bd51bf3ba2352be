import { useStore } from '../api/store.ts';
import { href } from '../navigation/place.ts';
import { session, workspaceId } from './session.ts';

/** The first step of the way to what is shown: its workspace, for those who see several. */
export function WorkspaceCrumb() {
  const now = useStore(session);
  const chosen = useStore(workspaceId);
  const workspaces = now.state === 'in' ? now.viewer.workspaces : [];
  const name = workspaces.find(({ id }) => id === chosen)?.name;
  if (workspaces.length < 2 || name === undefined) return null;
  return (
    <>
      <a href={href('/')}>{name}</a> <span aria-hidden="true">/</span>
    </>
  );
}
