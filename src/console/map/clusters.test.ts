import { expect, test } from 'vitest';
import { clustersOf } from './clusters.ts';
import { dragged, fitting, zoomed } from './map-view.ts';
import { pointOf } from './place.ts';

const SIZE = { width: 800, height: 400 };
const NAMES: readonly (readonly [string, number, number])[] = [
  ['a', 52.52, 13.405],
  ['b', 52.53, 13.42],
  ['c', 48.1, 11.6],
];
const ITEMS = NAMES.map(([name, latitude, longitude]) => ({ name, point: pointOf({ latitude, longitude }) }));

const namesOf = (view: ReturnType<typeof fitting>): string[] =>
  clustersOf(ITEMS, view, SIZE)
    .map(({ items }) => items.map(({ name }) => name).join(''))
    .toSorted();

test('what would cover each other is one cluster, and zooming in divides it', () => {
  const view = fitting(
    ITEMS.map(({ point }) => point),
    SIZE,
  );
  expect(namesOf(view)).toEqual(['ab', 'c']);
  const closer = fitting(
    ITEMS.slice(0, 2).map(({ point }) => point),
    SIZE,
  );
  expect(namesOf(closer)).toEqual(['a', 'b']);
});

test('dragging changes no cluster, and what is out of sight is none', () => {
  const view = fitting(
    ITEMS.map(({ point }) => point),
    SIZE,
  );
  for (const x of [1, 17, 33, 47]) expect(namesOf(dragged(view, { x, y: 0 }))).toEqual(['ab', 'c']);
  expect(namesOf(dragged(view, { x: 5_000, y: 0 }))).toEqual([]);
  const [first] = clustersOf(ITEMS, zoomed(view, 2, { x: 0, y: 0 }, SIZE), SIZE);
  expect(first?.items.length ?? 0).toBeLessThan(3);
});
