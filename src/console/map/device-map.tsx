import { useMemo, useRef, useState } from 'preact/hooks';
import { href } from '../navigation/place.ts';
import { Icon } from '../parts/icon.tsx';
import { clustersOf } from './clusters.ts';
import { gridOf, type MapView, scaleBar, type Size } from './map-view.ts';
import { type Point, pointOf, readPlace } from './place.ts';
import { useMapView } from './use-map-view.ts';
import './device-map.css';
import { t } from '../texts/texts.ts';
import { locale } from '../texts/languages.ts';

/** A device and where it was last. */
interface PlacedDevice {
  deviceId: string;
  name: string;
  online: boolean;
  /** `(lat,lon)` */
  place: string;
}

interface Placed extends PlacedDevice {
  point: Point;
}

const HEIGHT = 360;
const BAR_PIXELS = 120;
/** Height of the meridians' names at the bottom. */
const LABEL = 20;
/** Devices of one spot that are named. */
const MAX_NAMED = 20;
/** Distance in the world below which no zoom tells points apart. */
const ONE_SPOT = 1e-8;
const MOST_COUNTED = 999;

/**
 * Devices on a map without tiles. What would cover each other is drawn as one with its number, and opens when chosen;
 * what stays together is listed below.
 */
export function DeviceMap({ label, devices }: { label: string; devices: readonly PlacedDevice[] }) {
  const host = useRef<HTMLDivElement>(null);
  const [spot, setSpot] = useState<readonly Placed[]>([]);
  const placed = useMemo(
    () =>
      devices.flatMap((device): Placed[] => {
        const place = readPlace(device.place);
        return place === null ? [] : [{ ...device, point: pointOf(place) }];
      }),
    [devices],
  );
  const points = useMemo(() => placed.map(({ point }) => point), [placed]);
  const { size, view, isOwn, zoomIn, zoomOut, show, showAll, onKeyDown } = useMapView(host, points, HEIGHT);
  const clusters = useMemo(() => clustersOf(placed, view, size), [placed, view, size]);
  const open = (items: readonly Placed[]): void => {
    if (isOneSpot(items)) setSpot(items);
    else {
      setSpot([]);
      show(items.map(({ point }) => point));
    }
  };
  return (
    <figure class="device-map-figure">
      <div
        ref={host}
        class="device-map"
        role="application"
        aria-label={`${label}. Arrow keys move the map, plus and minus zoom, 0 shows all.`}
        tabIndex={0}
        style={{ height: `${HEIGHT}px` }}
        onKeyDown={onKeyDown}
      >
        {size.width > 0 && <Grid view={view} size={size} />}
        {clusters.map(({ x, y, items }) => (
          <Mark key={items[0]?.deviceId} x={x} y={y} items={items} onOpen={() => open(items)} />
        ))}
        <div class="map-buttons">
          <button type="button" aria-label="Zoom in" title="Zoom in" onClick={zoomIn}>
            <Icon name="plus" />
          </button>
          <button type="button" aria-label="Zoom out" title="Zoom out" onClick={zoomOut}>
            <Icon name="minus" />
          </button>
          {isOwn && (
            <button
              type="button"
              onClick={() => {
                setSpot([]);
                showAll();
              }}
            >
              All
            </button>
          )}
        </div>
      </div>
      {spot.length > 0 && (
        <ul class="map-spot" aria-label="Devices at this place">
          {spot.slice(0, MAX_NAMED).map(({ deviceId, name, online }) => (
            <li key={deviceId}>
              <span class="dot" data-online={online} role="img" aria-label={online ? 'online' : 'silent'} />{' '}
              <a href={href(`/devices/${deviceId}`)}>{name}</a>
            </li>
          ))}
          {spot.length > MAX_NAMED && <li class="muted">and {spot.length - MAX_NAMED} more here</li>}
        </ul>
      )}
    </figure>
  );
}

function isOneSpot(items: readonly Placed[]): boolean {
  const [first] = items;
  return (
    first !== undefined &&
    items.every(({ point: { x, y } }) => Math.hypot(x - first.point.x, y - first.point.y) < ONE_SPOT)
  );
}

function Mark({ x, y, items, onOpen }: { x: number; y: number; items: readonly Placed[]; onOpen: () => void }) {
  const silent = items.filter(({ online }) => !online).length;
  const state = silent === 0 ? 'online' : silent === items.length ? 'silent' : 'both';
  const style = { left: `${x}px`, top: `${y}px` };
  const [first] = items;
  if (items.length === 1 && first !== undefined)
    return (
      <a
        class="map-device"
        data-state={state}
        style={style}
        href={href(`/devices/${first.deviceId}`)}
        aria-label={`${first.name}, ${state}`}
        title={first.name}
      />
    );
  const text = t('{length} devices, {silent} silent', {
    length: items.length.toLocaleString(locale()),
    silent: silent.toLocaleString(locale()),
  });
  return (
    <button
      type="button"
      class="map-cluster"
      data-state={state}
      style={style}
      aria-label={text}
      title={text}
      onClick={onOpen}
    >
      {items.length > MOST_COUNTED ? `${MOST_COUNTED}+` : items.length}
    </button>
  );
}

function Grid({ view, size }: { view: MapView; size: Size }) {
  const { width, height } = size;
  const { meridians, parallels } = gridOf(view, size);
  const bar = scaleBar(view, BAR_PIXELS);
  return (
    <svg width={width} height={height} aria-hidden="true" data-scale={view.scale}>
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
      <path class="map-bar" d={`M${width - 16} ${height - 26}v6h${-bar.pixels}v-6`} />
      <text x={width - 16 - bar.pixels / 2} y={height - 26} text-anchor="middle">
        {bar.text}
      </text>
    </svg>
  );
}
