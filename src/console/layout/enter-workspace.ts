import { href, here, navigate } from '../navigation/place.ts';
import { chooseWorkspace } from '../session/session.ts';

/** Looks at another workspace: at the same list there, as the thing on the page is of the one before. */
export function enterWorkspace(id: string): void {
  chooseWorkspace(id);
  const { path, query } = here();
  const list = `/${path.split('/')[1] ?? ''}`;
  if (list !== path || query.size > 0) navigate(href(list));
}
