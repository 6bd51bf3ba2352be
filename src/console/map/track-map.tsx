import { useMemo, useRef } from 'preact/hooks';
import { LINE_COLORS } from '../chart/chart-colors.ts';
import { MapButtons, MapGrid } from './map-parts.tsx';
import { type MapView, pageAt, type Size } from './map-view.ts';
import { placeText } from './place.ts';
import type { TrackPoint } from './track.ts';
import { useMapView } from './use-map-view.ts';
import './track-map.css';
import { t } from '../texts/texts.ts';

/** A way to draw. */
export interface NamedTrack {
  /** Name of the last point. */
  endName: string;
  points: readonly TrackPoint[];
}

interface TrackMapProps {
  /** Label for screen readers. */
  label: string;
  tracks: readonly NamedTrack[];
  /** Index of the marked point among those of all tracks, one track behind the other. */
  marked: number | null;
  onMark: (at: number | null) => void;
  /** In pixels. */
  height?: number;
}

const HEIGHT = 320;
const NEAR = 40;

/**
 * The tracks of devices on a map, each in a colour of its own: a grid of degrees, a scale, their begins and their present
 * places. Dragged and zoomed by mouse, fingers and keys once it has the focus, so that scrolling past it works; until
 * then it shows them as a whole, and moves along.
 */
export function TrackMap({ label, tracks, marked, onMark, height = HEIGHT }: TrackMapProps) {
  const track = useMemo(() => tracks.flatMap(({ points }) => points), [tracks]);
  const host = useRef<HTMLDivElement>(null);
  const step = (by: number): void => {
    if (track.length > 0) onMark(Math.max(0, Math.min(track.length - 1, (marked ?? track.length - 1) + by)));
  };
  const { size, view, latest, isOwn, zoomIn, zoomOut, showAll, onKeyDown } = useMapView(host, track, height, {
    PageUp: () => step(-1),
    PageDown: () => step(1),
    Escape: () => onMark(null),
  });
  const point = marked === null ? undefined : track[marked];
  return (
    <figure class="track">
      <div
        ref={host}
        class="map track-map"
        role="application"
        aria-label={`${label}. Arrow keys move the map, plus and minus zoom, 0 shows the whole way, Page Up and Page Down go along it.`}
        tabIndex={0}
        style={{ height: `${height}px` }}
        onPointerMove={(event) => {
          const { left, top } = event.currentTarget.getBoundingClientRect();
          onMark(nearest({ ...latest(), track }, { x: event.clientX - left, y: event.clientY - top }));
        }}
        onPointerLeave={(event) => event.pointerType === 'mouse' && onMark(null)}
        onKeyDown={onKeyDown}
      >
        {size.width > 0 && <Drawing tracks={tracks} view={view} size={size} point={point} />}
        <MapButtons zoomIn={zoomIn} zoomOut={zoomOut} label="Whole way" onAll={isOwn ? showAll : null} />
      </div>
      <figcaption class="hint">Click or tap the map, then drag it; wheel, pinch, + and − zoom.</figcaption>
      <span role="status" class="unseen">
        {point !== undefined && document.activeElement === host.current ? placeText(point.place) : ''}
      </span>
    </figure>
  );
}

interface DrawingProps {
  tracks: readonly NamedTrack[];
  view: MapView;
  size: Size;
  point: TrackPoint | undefined;
}

function Drawing({ tracks, view, size, point }: DrawingProps) {
  const at = (one: { x: number; y: number }) => pageAt(view, one, size);
  const paths = useMemo(() => tracks.map(({ points }) => pathsOf(points, view, size)), [tracks, view, size]);
  const isOne = tracks.length === 1;
  return (
    <MapGrid view={view} size={size}>
      {tracks.map(({ endName, points }, index) => {
        const [start, end, path] = [points[0], points.at(-1), paths[index]];
        return (
          <g key={index} class="track-way" style={isOne ? {} : colored(index)}>
            <path class="track-line" d={path?.known} />
            <path class="track-line" data-unknown="true" d={path?.unknown} />
            {start !== undefined && start !== end && (
              <Mark kind="start" at={at(start)} name={isOne ? t('Start') : ''} />
            )}
            {end !== undefined && <Mark kind="end" at={at(end)} name={endName} />}
          </g>
        );
      })}
      {point !== undefined && <Mark kind="cursor" at={at(point)} name="" />}
    </MapGrid>
  );
}

/** A colour of its own for a way and its end. */
function colored(index: number): Record<string, string> {
  const ink = `var(--${LINE_COLORS[index % LINE_COLORS.length]})`;
  return { '--way': ink, '--end': ink };
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
