import { useMemo, useRef, useState } from 'preact/hooks';
import { href } from '../navigation/place.ts';
import { clustersOf } from './clusters.ts';
import { MapButtons, MapGrid } from './map-parts.tsx';
import { type Point, pointOf, readPlace } from './place.ts';
import { useMapView } from './use-map-view.ts';
import './device-map.css';
import { counted, t } from '../texts/texts.ts';
import { countText } from '../texts/count-text.ts';

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
/** Devices of one spot that are named. */
const MAX_NAMED = 20;
/** Distance in the world below which no zoom tells points apart. */
const ONE_SPOT = 1e-8;
const MOST_COUNTED = 999;

/**
 * Devices on a map. What would cover each other is drawn as one with its number, and opens when chosen;
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
        class="map"
        role="application"
        aria-label={`${label}. Arrow keys move the map, plus and minus zoom, 0 shows all.`}
        tabIndex={0}
        style={{ height: `${HEIGHT}px` }}
        onKeyDown={onKeyDown}
      >
        {size.width > 0 && <MapGrid view={view} size={size} />}
        {clusters.map(({ x, y, items }) => (
          <Mark key={items[0]?.deviceId} x={x} y={y} items={items} onOpen={() => open(items)} />
        ))}
        <MapButtons
          zoomIn={zoomIn}
          zoomOut={zoomOut}
          label="All"
          onAll={
            isOwn
              ? () => {
                  setSpot([]);
                  showAll();
                }
              : null
          }
        />
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
        aria-label={`${first.name}, ${state === 'online' ? t('online') : t('silent')}`}
        title={first.name}
      />
    );
  const text = counted(items.length, '{count} device, {silent} silent', '{count} devices, {silent} silent', {
    silent: countText(silent),
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
