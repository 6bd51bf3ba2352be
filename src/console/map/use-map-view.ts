import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { followGestures } from '../parts/gestures.ts';
import { dragged, fitting, type MapView, type Size, zoomed } from './map-view.ts';
import type { Point } from './place.ts';

const STEP = 1.5;
const PUSH = 60;
/** Wheel distance that doubles the scale; a notch is 100 or 120. */
const WHEEL_DOUBLES = 240;

interface MapHandle {
  size: Size;
  view: MapView;
  /** Both as they are behind the gesture that is just followed, before they are drawn. */
  latest: () => { view: MapView; size: Size };
  /** True when the view was chosen by hand. */
  isOwn: boolean;
  zoomIn: () => void;
  zoomOut: () => void;
  /** Shows these points. */
  show: (points: readonly Point[]) => void;
  /** Shows all points again, and goes along with them. */
  showAll: () => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

type Deeds = Readonly<Record<string, () => void>>;

/**
 * The view of a map in the element, moved by mouse, fingers, wheel and keys once it has the focus; until then it shows
 * all points. What matches `a, button` in it keeps its clicks; `ownKeys`: what other keys do.
 */
export function useMapView(
  host: { readonly current: HTMLElement | null },
  points: readonly Point[],
  height: number,
  ownKeys: Deeds = {},
): MapHandle {
  const [size, setSize] = useState<Size>({ width: 0, height });
  const [own, setOwn] = useState<MapView | null>(null);
  const whole = useMemo(() => fitting(points, size), [points, size]);
  const view = own ?? whole;
  const latest = useRef({ view, size });
  latest.current = { view, size };
  const change = (next: (view: MapView, size: Size) => MapView): void => {
    latest.current.view = next(latest.current.view, latest.current.size);
    setOwn(latest.current.view);
  };
  const zoom = (factor: number): void =>
    change((before, room) => zoomed(before, factor, { x: room.width / 2, y: room.height / 2 }, room));
  useLayoutEffect(() => {
    const element = host.current;
    if (element === null) return;
    const resized = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    resized.observe(element);
    const unfollow = followGestures(element, {
      accepts: ({ button, target }) => button === 0 && (target as Element).closest('a, button') === null,
      moved: ({ dx, dy, factor, at }) =>
        change((before, room) => zoomed(dragged(before, { x: dx, y: dy }), factor, at, room)),
    });
    return () => {
      resized.disconnect();
      unfollow();
    };
  }, []);
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const wheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !element.contains(document.activeElement)) return;
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      const at = { x: event.clientX - left, y: event.clientY - top };
      change((before, room) => zoomed(before, 2 ** (-event.deltaY / WHEEL_DOUBLES), at, room));
    };
    element.addEventListener('wheel', wheel, { passive: false });
    return () => element.removeEventListener('wheel', wheel);
  }, []);
  const push = (x: number, y: number): void => change((before) => dragged(before, { x, y }));
  const keys: Deeds = {
    ...ownKeys,
    ArrowLeft: () => push(PUSH, 0),
    ArrowRight: () => push(-PUSH, 0),
    ArrowUp: () => push(0, PUSH),
    ArrowDown: () => push(0, -PUSH),
    '+': () => zoom(STEP),
    '=': () => zoom(STEP),
    '-': () => zoom(1 / STEP),
    '0': () => setOwn(null),
  };
  return {
    size,
    view,
    latest: () => latest.current,
    isOwn: own !== null,
    zoomIn: () => zoom(STEP),
    zoomOut: () => zoom(1 / STEP),
    show: (some) => setOwn(fitting(some, latest.current.size)),
    showAll: () => setOwn(null),
    onKeyDown: (event) => {
      const run = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
      if (run === undefined || event.target !== event.currentTarget) return;
      event.preventDefault();
      run();
    },
  };
}
