import { useEffect, useMemo, useState } from 'preact/hooks';
import uPlot from 'uplot';

/** Far outside: no cursor is shown. */
const NOWHERE = { left: -10, top: -10 };
const INSIDE = 10;

/**
 * The time (Unix seconds) under the cursor that the charts of a key share, null while there is none, and what puts it
 * somewhere: how something that is no chart points and is pointed at together with them.
 */
export function useSharedCursor(key: string): [time: number | null, point: (time: number | null) => void] {
  const [time, setTime] = useState<number | null>(null);
  const point = useMemo(
    () =>
      (next: number | null): void => {
        setTime(next);
        for (const chart of uPlot.sync(key).plots)
          // Not another follower.
          if ('root' in chart)
            chart.setCursor(next === null ? NOWHERE : { left: chart.valToPos(next, 'x'), top: INSIDE }, true);
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
