import { expect, test } from 'vitest';
import { dragged, fitting, gridOf, pageAt, scaleBar, zoomed } from './map-view.ts';
import { placeOf, pointOf } from './place.ts';

const SIZE = { width: 800, height: 400 };
const BERLIN = { latitude: 52.52, longitude: 13.405 };
const POTSDAM = { latitude: 52.4, longitude: 13.06 };

test('a fitting view has every point in it, and a place alone has some metres around it', () => {
  const points = [pointOf(BERLIN), pointOf(POTSDAM)];
  const view = fitting(points, SIZE);
  for (const point of points) {
    const { x, y } = pageAt(view, point, SIZE);
    expect(x).toBeGreaterThanOrEqual(43.9);
    expect(x).toBeLessThanOrEqual(756.1);
    expect(y).toBeGreaterThanOrEqual(43.9);
    expect(y).toBeLessThanOrEqual(356.1);
  }
  const alone = fitting([pointOf(BERLIN)], SIZE);
  expect(pageAt(alone, pointOf(BERLIN), SIZE)).toEqual({ x: 400, y: 200 });
  expect(scaleBar(alone, 120)).toEqual({ pixels: expect.closeTo(78, 0), text: '50 m' });
});

test('the scale is that of where one looks: Mercator draws a metre twice as wide at 60°', () => {
  const scale = 1_000_000;
  const at = (latitude: number) => scaleBar({ middle: pointOf({ latitude, longitude: 0 }), scale }, 120);
  expect(at(0)).toEqual({ pixels: expect.closeTo(49.9, 1), text: '2 km' });
  expect(at(60)).toEqual({ pixels: expect.closeTo(99.8, 1), text: '2 km' });
});

test('zooming holds what is under the pointer, dragging takes it along, and both have ends', () => {
  const view = fitting([pointOf(BERLIN), pointOf(POTSDAM)], SIZE);
  const at = pageAt(view, pointOf(BERLIN), SIZE);
  const closer = zoomed(view, 3, at, SIZE);
  expect(closer.scale).toBeCloseTo(3 * view.scale, 0);
  expect(pageAt(closer, pointOf(BERLIN), SIZE)).toEqual({ x: expect.closeTo(at.x, 5), y: expect.closeTo(at.y, 5) });
  const moved = pageAt(dragged(closer, { x: 30, y: -20 }), pointOf(BERLIN), SIZE);
  expect(moved).toEqual({ x: expect.closeTo(at.x + 30, 5), y: expect.closeTo(at.y - 20, 5) });
  expect(zoomed(view, 1e-9, at, SIZE).scale).toBe(256);
  expect(zoomed(view, 1e9, at, SIZE).scale).toBe(zoomed(view, 1e10, at, SIZE).scale);
  expect(dragged(view, { x: 0, y: 1e12 }).middle.y).toBe(0);
});

test('the grid has round degrees, well apart, and ends where the map does', () => {
  const view = fitting([pointOf(BERLIN), pointOf(POTSDAM)], SIZE);
  const { meridians, parallels } = gridOf(view, SIZE);
  expect(meridians.map(({ text }) => text)).toContain('13.2° E');
  expect(parallels.map(({ text }) => text)).toContain('52.5° N');
  for (const [index, { at }] of meridians.entries())
    if (index > 0) expect(at - meridians[index - 1]!.at).toBeGreaterThan(60);
  const world = gridOf({ middle: { x: 0.5, y: 0.5 }, scale: 256 }, SIZE);
  expect(world.parallels.length).toBeLessThan(10);
  expect(world.meridians.length).toBeLessThan(41);
});

test('a point of the map is the place again', () => {
  expect(placeOf(pointOf(BERLIN))).toEqual({
    latitude: expect.closeTo(52.52, 9),
    longitude: expect.closeTo(13.405, 9),
  });
});
