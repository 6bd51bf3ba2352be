import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { Icon } from '../parts/icon.tsx';
import { MapGround } from './map-ground.tsx';
import { gridOf, type MapView, scaleBar, type Size } from './map-view.ts';
import './map.css';

const BAR_PIXELS = 120;
/** Height of the meridians' names at the bottom. */
const LABEL = 20;

/** The face of a map: its ground, where the server has one, a grid of degrees and a scale, around what the map shows. */
export function MapGrid({ view, size, children }: { view: MapView; size: Size; children?: ComponentChildren }) {
  const { width, height } = size;
  const { meridians, parallels } = useMemo(() => gridOf(view, size), [view, size]);
  const bar = scaleBar(view, BAR_PIXELS);
  return (
    <>
      <MapGround view={view} size={size} />
      <svg class="map-face" width={width} height={height} aria-hidden="true" data-scale={view.scale}>
        {meridians.map(({ at, text }, index) => (
          <g key={index}>
            <path class="map-line" d={`M${at} 0V${height}`} />
            <text x={at + 4} y={height - 8}>
              {text}
            </text>
          </g>
        ))}
        {parallels.map(({ at, text }, index) => (
          <g key={index}>
            <path class="map-line" d={`M0 ${at}H${width}`} />
            {at < height - LABEL && (
              <text x={6} y={at - 4}>
                {text}
              </text>
            )}
          </g>
        ))}
        {children}
        <path class="map-bar" d={`M${width - 16} ${height - 26}v6h${-bar.pixels}v-6`} />
        <text x={width - 16 - bar.pixels / 2} y={height - 26} text-anchor="middle">
          {bar.text}
        </text>
      </svg>
    </>
  );
}

interface MapButtonsProps {
  zoomIn: () => void;
  zoomOut: () => void;
  /** Shows all; null: all is shown. */
  onAll: (() => void) | null;
  /** Name of the button that shows all. */
  label: string;
}

/** The buttons that zoom a map, and that show all of it again. */
export function MapButtons({ zoomIn, zoomOut, onAll, label }: MapButtonsProps) {
  return (
    <div class="map-buttons">
      <button type="button" aria-label="Zoom in" title="Zoom in" onClick={zoomIn}>
        <Icon name="plus" />
      </button>
      <button type="button" aria-label="Zoom out" title="Zoom out" onClick={zoomOut}>
        <Icon name="minus" />
      </button>
      {onAll !== null && (
        <button type="button" onClick={onAll}>
          {label}
        </button>
      )}
    </div>
  );
}
