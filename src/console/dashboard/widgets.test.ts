import { expect, test } from 'vitest';
import { defaultWidgets, freePlace, moveWidget, rangeMs, type Widget } from './widgets.ts';

function widget(x: number, y: number, width: number, height: number): Widget {
  return { kind: 'value', fields: ['t'], place: { x, y, width, height } };
}

function places(widgets: readonly Widget[]): number[][] {
  return widgets.map(({ place }) => [place.x, place.y, place.width, place.height]);
}

test('a moved widget stays inside the grid, and what it covers moves down, one after the other', () => {
  const widgets = [widget(0, 0, 3, 2), widget(0, 2, 6, 2), widget(0, 4, 12, 1), widget(9, 0, 3, 1)];
  expect(places(moveWidget(widgets, 0, { x: 1, y: 1, width: 3, height: 2 }))).toEqual([
    [1, 1, 3, 2],
    [0, 3, 6, 2],
    [0, 5, 12, 1],
    [9, 0, 3, 1],
  ]);
  expect(places(moveWidget(widgets, 0, { x: 11, y: -4, width: 3, height: 0 }))[0]).toEqual([9, 0, 3, 1]);
});

test('a new widget stands beside the others where there is room, else below them', () => {
  const widgets = [widget(0, 0, 3, 2), widget(0, 2, 6, 2), widget(0, 4, 12, 1), widget(9, 0, 3, 1)];
  expect(freePlace(widgets, 3, 2)).toEqual({ x: 3, y: 0, width: 3, height: 2 });
  expect(freePlace(widgets, 6, 3)).toEqual({ x: 6, y: 1, width: 6, height: 3 });
  expect(freePlace(widgets, 4, 5)).toEqual({ x: 0, y: 5, width: 4, height: 5 });
  expect(freePlace([], 4, 4)).toEqual({ x: 0, y: 0, width: 4, height: 4 });
});

test('a product without widgets shows each field, numbers as charts as well, and no two in one place', () => {
  const widgets = defaultWidgets([
    { identifier: 't', type: 'FLOAT' },
    { identifier: 'note', type: 'STRING' },
    { identifier: 'place', type: 'GEOLOCATION' },
    { identifier: 'open', type: 'BOOLEAN' },
  ]);
  expect(widgets.map(({ kind, fields }) => `${kind} ${fields}`)).toEqual([
    'value t',
    'state note',
    'value open',
    'line t',
    'line open',
    'map place',
  ]);
  expect(places(widgets).slice(0, 4)).toEqual([
    [0, 0, 3, 2],
    [3, 0, 3, 2],
    [6, 0, 3, 2],
    [0, 2, 6, 4],
  ]);
});

test('a range says how far back it goes', () => {
  expect(rangeMs('90m')).toBe(5_400_000);
  expect(rangeMs('1mo')).toBe(30 * 86_400_000);
  expect(rangeMs(undefined)).toBe(86_400_000);
});
