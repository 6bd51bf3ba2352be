import { useEffect } from 'preact/hooks';
import { useStore } from '../../api/store.ts';
import { useQuery } from '../../api/use-query.ts';
import { href, navigate } from '../../navigation/place.ts';
import { Note } from '../../parts/note.tsx';
import { workspaceId } from '../../session/session.ts';
import { AnyDevice } from './home.graphql.ts';

/** The screen of `/console/`: leads to the devices, or without any to the first steps. */
export function HomeScreen() {
  const workspace = useStore(workspaceId);
  const { data, error } = useQuery(AnyDevice, { workspaceId: workspace });
  useEffect(() => {
    if (data !== null) navigate(href(data.devices.edges.length === 0 ? '/start' : '/devices'), { replace: true });
  }, [data]);
  return <main class="page">{error !== null && <Note kind="error">{error.message}</Note>}</main>;
}
