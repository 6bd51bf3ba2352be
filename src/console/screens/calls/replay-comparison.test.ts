import { expect, test } from 'vitest';
import { compareReplay } from './replay-comparison.ts';

const DEVICE = { id: 'd', name: 'Hall' };

function entry(field: string, at: number, value: unknown, code: string | null = null) {
  return {
    device: 'd-1',
    field,
    value,
    timestamp: new Date(at).toISOString(),
    code,
    message: code,
    matchedDevice: DEVICE,
    matchedField: code === null ? { identifier: field } : null,
  };
}

function kindsOf(entries: ReturnType<typeof entry>[], stored: Parameters<typeof compareReplay>[1]): string[] {
  const results = [{ call: { id: 'c', receivedAt: '' }, run: { error: null, entries } }];
  return compareReplay(results, stored).map(({ kind }) => kind);
}

function series(field: string, values: Record<number, number | string | boolean>, truncated = false) {
  const timestamps = Object.keys(values).map((ms) => Number(ms) / 1_000);
  return { field: { identifier: field }, timestamps, values: Object.values(values), truncated };
}

test('each entry is laid beside what is stored at its time, as the server would convert it', () => {
  const stored = [
    { device: { id: 'd' }, series: [series('t', { 1_500: 21.5, 2_500: 7 }), series('on', { 1_500: true })] },
  ];
  const entries = [
    entry('t', 1_500, '21.50'),
    entry('t', 2_500, { value: 8, unit: '°C' }),
    entry('t', 3_500, 1),
    entry('t', 3_500, 1),
    entry('t', 3_500, 2),
    entry('on', 1_500, 1),
    entry('x', 1_500, 1, 'UNKNOWN_FIELD'),
  ];
  expect(kindsOf(entries, stored)).toEqual([
    'unchanged',
    'replaced',
    'new',
    'unchanged',
    'replaced',
    'unchanged',
    'refused',
  ]);
});

test('what could not be read is not called new', () => {
  expect(kindsOf([entry('t', 1, 1)], null)).toEqual(['unknown']);
  expect(kindsOf([entry('t', 5, 1)], [{ device: { id: 'd' }, series: [series('t', { 1: 1 }, true)] }])).toEqual([
    'unknown',
  ]);
});
