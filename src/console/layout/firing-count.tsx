import { useEffect, useRef, useState } from 'preact/hooks';
import { request } from '../api/request.ts';
import { useStore } from '../api/store.ts';
import { useLive } from '../api/use-live.ts';
import { may, workspaceId } from '../session/session.ts';
import { FiringChanged, FiringCount } from './firing.graphql.ts';
import { countText } from '../texts/count-text.ts';

/** Minimum time between two looks, however many alerts change. */
const LOOK_MS = 700;
const MOST_SHOWN = 99;

/** The number of alerts of the workspace that fire now, live; nothing while none does. */
export function FiringBadge() {
  const chosen = useStore(workspaceId);
  const workspace = may('READ') ? chosen : null;
  const [count, setCount] = useState(0);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const look = (after: number): void => {
    if (workspace === null || timer.current !== null) return;
    timer.current = setTimeout(() => {
      timer.current = null;
      // The next change asks again where it cannot be reached now.
      request(FiringCount, { workspaceId: workspace }).then(
        ({ alerts }) => setCount(alerts.totalCount),
        () => {},
      );
    }, after);
  };
  useEffect(() => {
    setCount(0);
    look(0);
    return () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    };
  }, [workspace]);
  useLive(FiringChanged, workspace === null ? null : { workspaceId: workspace }, {
    cursorOf: ({ alertChanged }) => alertChanged.cursor,
    missed: () => look(LOOK_MS),
    next: () => look(LOOK_MS),
  });
  if (count === 0) return null;
  return (
    <span class="firing-count" title={`${countText(count)} firing`}>
      {count > MOST_SHOWN ? `${MOST_SHOWN}+` : count}
      <span class="unseen"> firing</span>
    </span>
  );
}
