import type uPlot from 'uplot';
import { pointCharts } from './shared-cursor.ts';

/**
 * Moves the cursor of the charts of a key between values of this chart by Left and Right, to its first and last visible
 * value by Home and End, and removes it by Escape, until the returned function is called.
 */
export function followKeys(element: HTMLElement, chart: uPlot, key: string): () => void {
  const pressed = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { min = 0, max = 0 } = chart.scales['x']!;
    const times = chart.data[0].filter((time) => time >= (min ?? 0) && time <= (max ?? 0));
    const known = chart.cursor.idx == null ? -1 : times.indexOf(chart.data[0][chart.cursor.idx]!);
    const places: Record<string, number> = {
      ArrowLeft: known < 0 ? times.length - 1 : Math.max(0, known - 1),
      ArrowRight: known < 0 ? 0 : Math.min(times.length - 1, known + 1),
      Home: 0,
      End: times.length - 1,
    };
    const time = event.key === 'Escape' ? null : times[places[event.key] ?? -1];
    if (time === undefined) return;
    event.preventDefault();
    pointCharts(key, time);
  };
  element.addEventListener('keydown', pressed);
  return () => element.removeEventListener('keydown', pressed);
}
