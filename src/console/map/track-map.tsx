import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { followGestures } from '../parts/gestures.ts';
import { Icon } from '../parts/icon.tsx';
import { dragged, fitting, gridOf, type MapView, pageAt, scaleBar, type Size, zoomed } from './map-view.ts';
import { placeText } from './place.ts';
import type { TrackPoint } from './track.ts';
import './track-map.css';

interface TrackMapProps {
  /** Label for screen readers. */
  label: string;
  track: readonly TrackPoint[];
  /** Index of the marked point of the track. */
  marked: number | null;
  onMark: (at: number | null) => void;
  /** Name of the last point. */
  endName: string;
  /** In pixels. */
  height?: number;
}

const HEIGHT = 320;
const STEP = 1.5;
const PUSH = 60;
/** Wheel distance that doubles the scale; a notch is 100 or 120. */
const WHEEL_DOUBLES = 240;
const BAR_PIXELS = 120;
const NEAR = 40;
/** Height of the meridians' names at the bottom. */
const LABEL = 20;

/**
 * The track of a device on a map without tiles: a grid of degrees, a scale, its begin and its present place. Dragged
 * and zoomed by mouse, fingers and keys once it has the focus, so that scrolling past it works; until then it shows the
 * whole track, and moves along.
 */
export function TrackMap({ label, track, marked, onMark, endName, height = HEIGHT }: TrackMapProps) {
  const host = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState<Size>({ width: 0, height });
  const [own, setOwn] = useState<MapView | null>(null);
  const whole = useMemo(() => fitting(track, size), [track, size]);
  const view = own ?? whole;
  const latest = useRef({ view, size, track });
  latest.current = { view, size, track };
  const change = (next: (view: MapView, size: Size) => MapView): void => {
    latest.current.view = next(latest.current.view, latest.current.size);
    setOwn(latest.current.view);
  };
  const zoom = (factor: number): void =>
    change((before, room) => zoomed(before, factor, { x: room.width / 2, y: room.height / 2 }, room));
  useLayoutEffect(() => {
    const element = host.current!;
    const resized = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    resized.observe(element);
    const unfollow = followGestures(element, {
      accepts: ({ button, target }) => button === 0 && (target as Element).closest('button') === null,
      moved: ({ dx, dy, factor, at }) =>
        change((before, room) => zoomed(dragged(before, { x: dx, y: dy }), factor, at, room)),
    });
    return () => {
      resized.disconnect();
      unfollow();
    };
  }, []);
  useEffect(() => {
    const element = host.current!;
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
  const step = (by: number): void => {
    if (track.length > 0) onMark(Math.max(0, Math.min(track.length - 1, (marked ?? track.length - 1) + by)));
  };
  const keys: Record<string, () => void> = {
    ArrowLeft: () => change((before) => dragged(before, { x: PUSH, y: 0 })),
    ArrowRight: () => change((before) => dragged(before, { x: -PUSH, y: 0 })),
    ArrowUp: () => change((before) => dragged(before, { x: 0, y: PUSH })),
    ArrowDown: () => change((before) => dragged(before, { x: 0, y: -PUSH })),
    '+': () => zoom(STEP),
    '=': () => zoom(STEP),
    '-': () => zoom(1 / STEP),
    '0': () => setOwn(null),
    PageUp: () => step(-1),
    PageDown: () => step(1),
    Escape: () => onMark(null),
  };
  const point = marked === null ? undefined : track[marked];
  return (
    <figure class="track">
      <div
        ref={host}
        class="track-map"
        role="application"
        aria-label={`${label}. Arrow keys move the map, plus and minus zoom, 0 shows the whole way, Page Up and Page Down go along it.`}
        tabIndex={0}
        style={{ height: `${height}px` }}
        onPointerMove={(event) => {
          const { left, top } = event.currentTarget.getBoundingClientRect();
          onMark(nearest(latest.current, { x: event.clientX - left, y: event.clientY - top }));
        }}
        onPointerLeave={(event) => event.pointerType === 'mouse' && onMark(null)}
        onKeyDown={(event) => {
          const run = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
          if (run === undefined || event.target !== event.currentTarget) return;
          event.preventDefault();
          run();
        }}
      >
        {size.width > 0 && <Drawing track={track} view={view} size={size} point={point} endName={endName} />}
        <div class="track-buttons">
          <button type="button" aria-label="Zoom in" title="Zoom in" onClick={() => zoom(STEP)}>
            <Icon name="plus" />
          </button>
          <button type="button" aria-label="Zoom out" title="Zoom out" onClick={() => zoom(1 / STEP)}>
            <Icon name="minus" />
          </button>
          {own !== null && (
            <button type="button" onClick={() => setOwn(null)}>
              Whole way
            </button>
          )}
        </div>
      </div>
      <figcaption class="hint">Click or tap the map, then drag it; wheel, pinch, + and − zoom.</figcaption>
      <span role="status" class="unseen">
        {point !== undefined && document.activeElement === host.current ? placeText(point.place) : ''}
      </span>
    </figure>
  );
}

interface DrawingProps {
  track: readonly TrackPoint[];
  view: MapView;
  size: Size;
  point: TrackPoint | undefined;
  endName: string;
}

function Drawing({ track, view, size, point, endName }: DrawingProps) {
  const { width, height } = size;
  const at = (one: { x: number; y: number }) => pageAt(view, one, size);
  const { meridians, parallels } = useMemo(() => gridOf(view, size), [view, size]);
  const paths = useMemo(() => pathsOf(track, view, size), [track, view, size]);
  const bar = scaleBar(view, BAR_PIXELS);
  const [start, end] = [track[0], track.at(-1)];
  return (
    <svg width={width} height={height} aria-hidden="true" data-scale={view.scale}>
      {meridians.map(({ at: x, text }, index) => (
        <g key={index}>
          <path class="track-grid" d={`M${x} 0V${height}`} />
          <text x={x + 4} y={height - 8}>
            {text}
          </text>
        </g>
      ))}
      {parallels.map(({ at: y, text }, index) => (
        <g key={index}>
          <path class="track-grid" d={`M0 ${y}H${width}`} />
          {y < height - LABEL && (
            <text x={6} y={y - 4}>
              {text}
            </text>
          )}
        </g>
      ))}
      <path class="track-line" d={paths.known} />
      <path class="track-line" data-unknown="true" d={paths.unknown} />
      {start !== undefined && start !== end && <Mark kind="start" at={at(start)} name="Start" />}
      {end !== undefined && <Mark kind="end" at={at(end)} name={endName} />}
      {point !== undefined && <Mark kind="cursor" at={at(point)} name="" />}
      <path class="track-bar" d={`M${width - 16} ${height - 26}v6h${-bar.pixels}v-6`} />
      <text x={width - 16 - bar.pixels / 2} y={height - 26} text-anchor="middle">
        {bar.text}
      </text>
    </svg>
  );
}

function Mark({ kind, at: { x, y }, name }: { kind: string; at: { x: number; y: number }; name: string }) {
  return (
    <g class="track-mark" data-kind={kind} transform={`translate(${x} ${y})`}>
      <circle r={kind === 'cursor' ? 5 : 6} />
      {name !== '' && (
        <text x={kind === 'start' ? -10 : 10} y={4} text-anchor={kind === 'start' ? 'end' : 'start'}>
          {name}
        </text>
      )}
    </g>
  );
}

function pathsOf(track: readonly TrackPoint[], view: MapView, size: Size): { known: string; unknown: string } {
  let [known, unknown, before] = ['', '', ''];
  for (const one of track) {
    const { x, y } = pageAt(view, one, size);
    const here = `${x.toFixed(1)} ${y.toFixed(1)}`;
    if (one.afterGap) unknown += `M${before}L${here}`;
    known += `${known === '' || one.afterGap ? 'M' : 'L'}${here}`;
    before = here;
  }
  return { known, unknown };
}

/** The point of the track that is drawn nearest to a position; null: none is near. */
function nearest(
  { view, size, track }: { view: MapView; size: Size; track: readonly TrackPoint[] },
  { x, y }: { x: number; y: number },
): number | null {
  let [found, distance] = [null as number | null, NEAR];
  for (const [index, one] of track.entries()) {
    const drawn = pageAt(view, one, size);
    const away = Math.hypot(drawn.x - x, drawn.y - y);
    if (away < distance) [found, distance] = [index, away];
  }
  return found;
}
