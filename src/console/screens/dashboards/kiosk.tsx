import { useEffect } from 'preact/hooks';
import { useStore } from '../../api/store.ts';
import { useQuery } from '../../api/use-query.ts';
import { href, navigate, setParameters, useParameter } from '../../navigation/place.ts';
import { workspaceId } from '../../session/session.ts';
import { DashboardNames } from './dashboards.graphql.ts';

const SHORTEST_TURN_SECONDS = 5;

/**
 * Shows the page alone, as on a wall: without navigation, and the screen stays on. With `turn` in the address the next
 * dashboard of the workspace follows after so many seconds. Escape ends it.
 */
export function Kiosk({ id }: { id: string }) {
  const [turn] = useParameter('turn');
  const seconds = Math.max(SHORTEST_TURN_SECONDS, Number(turn));
  const isTurning = Number(turn) > 0;
  const workspace = useStore(workspaceId);
  const { data } = useQuery(DashboardNames, isTurning && workspace !== null ? { workspaceId: workspace } : null);
  const ids = data?.workspace.dashboards.map((one) => one.id) ?? [];
  const next = ids[(ids.indexOf(id) + 1) % ids.length];
  useEffect(() => {
    document.documentElement.dataset['kiosk'] = '';
    const leave = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && document.querySelector('dialog[open]') === null)
        setParameters({ kiosk: null, turn: null });
    };
    addEventListener('keydown', leave);
    const letSleep = keepAwake();
    return () => {
      delete document.documentElement.dataset['kiosk'];
      removeEventListener('keydown', leave);
      letSleep();
    };
  }, []);
  useEffect(() => {
    if (!isTurning || next === undefined || next === id) return;
    const timer = setTimeout(
      () => navigate(href(`/dashboards/${next}`, { kiosk: '1', turn: String(seconds) }), { replace: true }),
      seconds * 1_000,
    );
    return () => clearTimeout(timer);
  }, [isTurning, seconds, next, id]);
  return null;
}

/** Keeps the screen on while the page is in sight, where the browser can; until the returned function is called. */
function keepAwake(): () => void {
  let lock: WakeLockSentinel | null = null;
  let isOver = false;
  const take = async (): Promise<void> => {
    if (document.hidden || isOver) return;
    const taken = await navigator.wakeLock?.request('screen');
    lock = taken ?? null;
    if (isOver) void taken?.release();
  };
  // Browsers have none on plain http, and refuse it when the battery is low.
  const onSight = (): void => void take().catch(() => {});
  onSight();
  document.addEventListener('visibilitychange', onSight);
  return () => {
    isOver = true;
    document.removeEventListener('visibilitychange', onSight);
    void lock?.release();
  };
}
