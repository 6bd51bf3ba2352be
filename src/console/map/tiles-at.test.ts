import { expect, test } from 'vitest';
import { pointOf } from './place.ts';
import { tilesAt } from './tiles-at.ts';

const SIZE = { width: 800, height: 400 };

test('the tiles cover the map, at the zoom that is nearest to its scale', () => {
  const view = { middle: pointOf({ latitude: 52.52, longitude: 13.405 }), scale: 256 * 2 ** 12 };
  const tiles = tilesAt(view, SIZE, 19);
  // Berlin is on the tile 2200/1343 of zoom 12.
  expect(tiles.map(({ key }) => key)).toContain('12/2200/1343');
  expect(Math.min(...tiles.map(({ x }) => x))).toBeLessThanOrEqual(0);
  expect(Math.max(...tiles.map(({ x, size }) => x + size))).toBeGreaterThanOrEqual(800);
  expect(Math.min(...tiles.map(({ y }) => y))).toBeLessThanOrEqual(0);
  expect(Math.max(...tiles.map(({ y, size }) => y + size))).toBeGreaterThanOrEqual(400);
  expect(new Set(tiles.map(({ size }) => size))).toEqual(new Set([256]));
  expect(tilesAt(view, SIZE, 19, 2)[0]).toMatchObject({ key: expect.stringMatching(/^13\//), size: 128 });
});

test('beyond the closest zoom tiles are larger, around the world there are none, and their number is bounded', () => {
  const close = tilesAt({ middle: { x: 0.5, y: 0.5 }, scale: 256 * 2 ** 22 }, SIZE, 19);
  expect(close.every(({ key, size }) => key.startsWith('19/') && size === 2_048)).toBe(true);
  const world = tilesAt({ middle: { x: 0.5, y: 0.5 }, scale: 256 }, SIZE, 19);
  expect(world.map(({ key, x, y }) => [key, x, y])).toEqual([['0/0/0', 272, 72]]);
  expect(tilesAt({ middle: { x: 7, y: 0.5 }, scale: 256 }, SIZE, 19)).toEqual([]);
  const wall = { width: 20_000, height: 20_000 };
  expect(tilesAt({ middle: { x: 0.5, y: 0.5 }, scale: 256 * 2 ** 10 }, wall, 19).length).toBeLessThanOrEqual(220);
});
