import type uPlot from 'uplot';
import { followGestures } from '../parts/gestures.ts';
import { gesturedRange, type Stretch } from './gestured-range.ts';

interface FingerHandlers {
  /** The shown range. */
  shown: () => Stretch;
  /** Shows a range while fingers are on the chart; null: they have let go. */
  hold: (at: Stretch | null) => void;
  /** Called with the final range. */
  zoom: (to: Stretch) => void;
}

const LEAST_PIXELS = 6;

/** Moves a chart through time with one finger and zooms it with two, until the returned function is called. */
export function followFingers(element: HTMLElement, chart: uPlot, { shown, hold, zoom }: FingerHandlers): () => void {
  let [begin, now] = [null as Stretch | null, null as Stretch | null];
  const show = (at: Stretch, held: boolean): void => {
    hold(held ? at : null);
    chart.setScale('x', { min: at.from / 1_000, max: at.to / 1_000 });
  };
  return followGestures(element, {
    accepts: ({ pointerType }) => pointerType === 'touch',
    moved: (gesture) => {
      begin ??= shown();
      now = gesturedRange(now ?? begin, gesture, chart.over.offsetLeft, Math.max(1, chart.over.clientWidth));
      show(now, true);
    },
    ended: (cancelled) => {
      const [before, after] = [begin, now];
      [begin, now] = [null, null];
      if (before === null || after === null) return;
      const least = ((before.to - before.from) * LEAST_PIXELS) / Math.max(1, chart.over.clientWidth);
      const isFar = Math.abs(after.from - before.from) > least || Math.abs(after.to - before.to) > least;
      if (cancelled || !isFar) return show(before, false);
      hold(null);
      zoom(after);
    },
  });
}
