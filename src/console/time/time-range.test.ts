import { describe, expect, test } from 'vitest';
import { moved, ownRange, readRange, scaled, SPANS } from './time-range.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
const read = (text: string) => readRange(new URLSearchParams(text), NOW);

describe('the range in the address', () => {
  test('names a stretch that ends now', () => {
    expect(read('range=week')).toEqual({ from: NOW - SPANS.week, to: NOW, name: 'week' });
    expect(read('')).toEqual({ from: NOW - SPANS.day, to: NOW, name: 'day' });
    expect(read('range=toString').name).toBe('day');
    expect(readRange(new URLSearchParams(), NOW, 'hour').name).toBe('hour');
  });

  test('or its ends, which win; what cannot be a range counts as left out', () => {
    const own = read('range=week&from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z');
    expect(own).toEqual({ from: Date.UTC(2026, 0, 1), to: Date.UTC(2026, 0, 2), name: 'own' });
    for (const wrong of [
      'from=x&to=y',
      'from=2026-01-02&to=2026-01-01',
      'from=2026-01-01',
      'from=1960-01-01&to=2026-01-01',
    ])
      expect(read(wrong).name, wrong).toBe('day');
  });

  test('survives being written and read again', () => {
    const written = new URLSearchParams(ownRange(1_000.4, 86_400_000));
    expect(read(written.toString())).toEqual({ from: 1_000, to: 86_400_000, name: 'own' });
    expect(ownRange(-5, 0)).toEqual({ from: '1970-01-01T00:00:00.000Z', to: '1970-01-01T00:00:01.000Z' });
  });

  test('moves and grows around its middle', () => {
    const range = { from: 100_000, to: 200_000, name: 'own' } as const;
    expect(read(new URLSearchParams(moved(range, -0.5)).toString())).toMatchObject({ from: 50_000, to: 150_000 });
    expect(read(new URLSearchParams(scaled(range, 2)).toString())).toMatchObject({ from: 50_000, to: 250_000 });
    expect(read(new URLSearchParams(scaled(range, 0.5)).toString())).toMatchObject({ from: 125_000, to: 175_000 });
  });
});
