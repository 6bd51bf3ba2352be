import { useEffect } from 'preact/hooks';
import { liveState } from '../api/connection.ts';
import { checkServer, isReachable, tellsReachable } from '../api/reachable.ts';
import { useStore } from '../api/store.ts';

/** Says once for the whole page that the server cannot be reached; nothing while it can. */
export function OfflineNote() {
  useEffect(() => {
    const untell = tellsReachable();
    const unfollow = liveState.follow((state) => {
      if (state === 'retrying') void checkServer();
    });
    return () => {
      untell();
      unfollow();
    };
  }, []);
  if (useStore(isReachable)) return null;
  return (
    <div class="offline" role="alert">
      The server cannot be reached. What is shown may be old; this page looks for it and goes on by itself.
    </div>
  );
}
