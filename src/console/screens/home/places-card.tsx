import { useStore } from '../../api/store.ts';
import { useLookedAt } from '../../api/use-looked-at.ts';
import { DeviceMap } from '../../map/device-map.tsx';
import { Note } from '../../parts/note.tsx';
import { workspaceId } from '../../session/session.ts';
import { HomePlaces } from './home.graphql.ts';
import { countText } from '../../texts/count-text.ts';

const LOOK_MS = 30_000;

/** All devices on one map; nothing where none has a place. */
export function PlacesCard() {
  const workspace = useStore(workspaceId);
  const { data, error, fresh } = useLookedAt(
    HomePlaces,
    workspace === null ? null : { workspaceId: workspace },
    LOOK_MS,
  );
  const places = fresh ? (data?.workspace.places ?? []) : [];
  if (error !== null) return <Note kind="error">{error.message}</Note>;
  if (places.length === 0) return null;
  return (
    <section class="card" aria-label="Map">
      <header class="card-head">
        <h2 class="grow">
          Map <span class="count">{countText(places.length)}</span>
        </h2>
      </header>
      <DeviceMap key={workspace} label="Devices on a map" devices={places} />
    </section>
  );
}
