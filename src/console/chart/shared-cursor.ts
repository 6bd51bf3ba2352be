import { useEffect, useMemo, useState } from 'preact/hooks';
import uPlot from 'uplot';

/** A position far outside, which hides the cursor. */
const NOWHERE = { left: -10, top: -10 };
const INSIDE = 10;

/** Puts the cursor of a key's charts at a time (Unix seconds); null hides it. */
export function pointCharts(key: string, time: number | null): void {
  for (const chart of uPlot.sync(key).plots)
    // Only charts, not other followers.
    if ('root' in chart)
      chart.setCursor(time === null ? NOWHERE : { left: chart.valToPos(time, 'x'), top: INSIDE }, true);
}

/**
 * The time (Unix seconds) under the cursor that the charts of a key share, null while hidden, and a function that sets
 * it: for components other than charts.
 */
export function useSharedCursor(key: string): [time: number | null, point: (time: number | null) => void] {
  const [time, setTime] = useState<number | null>(null);
  const point = useMemo(
    () =>
      (next: number | null): void => {
        setTime(next);
        pointCharts(key, next);
      },
    [key],
  );
  useEffect(() => {
    const follower = {
      pub: (type: string, from: uPlot, left: number) =>
        setTime(type === 'mousemove' && left >= 0 ? from.posToVal(left, 'x') : null),
    } as unknown as uPlot;
    const shared = uPlot.sync(key);
    shared.sub(follower);
    return () => shared.unsub(follower);
  }, [key]);
  return [time, point];
}
