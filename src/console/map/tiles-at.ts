import { type MapView, pageAt, type Size } from './map-view.ts';

/** A ground of tiles, and what is said of it. */
export interface TiledGround {
  attribution: string;
  maxZoom: number;
}

/** A tile, and where it lies on the page, in pixels. */
export interface PlacedTile {
  key: string;
  x: number;
  y: number;
  /** Of its edge. */
  size: number;
}

/** Width of a tile of the tile server. */
const PIXELS = 256;
/** Maximum tiles drawn at once: a map of 4096 × 2160 pixels has them. */
const MAX_TILES = 220;

/**
 * The tiles that cover a map, of the zoom whose pixels are nearest to those of the screen (`density` to one of the page);
 * beyond the closest zoom these are drawn larger. None outside of the world.
 */
export function tilesAt(view: MapView, size: Size, maxZoom: number, density = 1): PlacedTile[] {
  let zoom = Math.min(maxZoom, Math.max(0, Math.round(Math.log2((view.scale * density) / PIXELS))));
  for (; ; zoom -= 1) {
    const tiles = tilesOf(view, size, zoom);
    if (tiles.length <= MAX_TILES || zoom === 0) return tiles;
  }
}

function tilesOf(view: MapView, size: Size, zoom: number): PlacedTile[] {
  const count = 2 ** zoom;
  const { middle, scale } = view;
  const reach = (center: number, room: number): [first: number, last: number] => [
    Math.max(0, Math.floor((center - room / 2 / scale) * count)),
    Math.min(count - 1, Math.floor((center + room / 2 / scale) * count)),
  ];
  const [left, right] = reach(middle.x, size.width);
  const [top, bottom] = reach(middle.y, size.height);
  const tiles: PlacedTile[] = [];
  for (let y = top; y <= bottom && tiles.length <= MAX_TILES; y += 1)
    for (let x = left; x <= right && tiles.length <= MAX_TILES; x += 1) {
      const at = pageAt(view, { x: x / count, y: y / count }, size);
      tiles.push({ key: `${zoom}/${x}/${y}`, ...at, size: scale / count });
    }
  return tiles;
}
