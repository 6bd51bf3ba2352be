import { type MapView, pageAt, type Size } from './map-view.ts';
import type { Point } from './place.ts';

/** Points that are drawn as one, as they would cover each other. */
interface Cluster<Item> {
  /** Its middle, in pixels from the upper left corner of the map. */
  x: number;
  y: number;
  items: Item[];
}

/** Size of a cell of the grid by which points are gathered, in pixels. */
const CELL = 48;
/** Pixels beyond the edge that are still drawn. */
const BEYOND = 24;

/**
 * The points in sight, gathered by a grid that is fixed to the world: dragging the map changes no cluster, zooming in
 * divides them.
 */
export function clustersOf<Item extends { point: Point }>(
  items: readonly Item[],
  view: MapView,
  size: Size,
): Cluster<Item>[] {
  const cells = new Map<string, Item[]>();
  for (const item of items) {
    const { x, y } = pageAt(view, item.point, size);
    if (x < -BEYOND || y < -BEYOND || x > size.width + BEYOND || y > size.height + BEYOND) continue;
    const cell = `${Math.floor((item.point.x * view.scale) / CELL)} ${Math.floor((item.point.y * view.scale) / CELL)}`;
    const there = cells.get(cell);
    if (there === undefined) cells.set(cell, [item]);
    else there.push(item);
  }
  return [...cells.values()].map((inside) => {
    const middle = {
      x: inside.reduce((sum, { point }) => sum + point.x, 0) / inside.length,
      y: inside.reduce((sum, { point }) => sum + point.y, 0) / inside.length,
    };
    return { ...pageAt(view, middle, size), items: inside };
  });
}
