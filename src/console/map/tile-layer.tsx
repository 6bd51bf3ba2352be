import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { MapView, Size } from './map-view.ts';
import { loadedTile, TileQueue } from './tile-queue.ts';
import { type PlacedTile, type TiledGround, tilesAt } from './tiles-at.ts';
import './tile-layer.css';

interface TileLayerProps {
  view: MapView;
  size: Size;
  ground: TiledGround;
}

/** Pixels of the screen for one of the page that tiles are chosen for. */
const MAX_DENSITY = 2;

/** The tiles below a map, as far as they have come; those that the server does not have are left out. */
export function TileLayer({ view, size, ground: { attribution, maxZoom } }: TileLayerProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const queue = useRef<TileQueue | null>(null);
  const density = Math.min(MAX_DENSITY, devicePixelRatio);
  const drawn = useRef(() => {});
  const tiles = useMemo(() => tilesAt(view, size, maxZoom, density), [view, size, maxZoom, density]);
  drawn.current = () => draw(canvas.current, tiles, size, density);
  useEffect(() => {
    queue.current = new TileQueue(() => drawn.current());
    return () => queue.current?.end();
  }, []);
  useEffect(() => {
    drawn.current();
    queue.current?.want(tiles.map(({ key }) => key));
  }, [tiles]);
  return (
    <>
      <canvas ref={canvas} class="map-tiles" aria-hidden="true" />
      {attribution !== '' && <small class="map-attribution">{attribution}</small>}
    </>
  );
}

function draw(canvas: HTMLCanvasElement | null, tiles: readonly PlacedTile[], size: Size, density: number): void {
  const context = canvas?.getContext('2d');
  if (canvas === null || context == null) return;
  canvas.width = Math.round(size.width * density);
  canvas.height = Math.round(size.height * density);
  let count = 0;
  for (const { key, x, y, size: edge } of tiles) {
    const image = loadedTile(key);
    if (image === null) continue;
    // Whole pixels, so that no seam is between two tiles.
    const [left, top] = [Math.round(x * density), Math.round(y * density)];
    const [right, bottom] = [Math.round((x + edge) * density), Math.round((y + edge) * density)];
    context.drawImage(image, left, top, right - left, bottom - top);
    count += 1;
  }
  canvas.dataset['tiles'] = `${count} of ${tiles.length}`;
}
