import { expect, test } from 'vitest';
import type { Database } from '../database.ts';
import { pause } from '../pause.ts';
import { StoredReceiptMarks } from './receipt-marks.ts';

const PASSED = { name: 'receipt times of device 1', value: '1000' };

/** A database that takes what is written, or not. */
function open({ rows = [] as { name: string; value: string }[] } = {}) {
  const written = new Map<unknown, unknown>();
  const state = { isAway: false, errors: 0 };
  const em = {
    find: () => Promise.resolve(rows),
    nativeDelete: () => Promise.resolve(rows.length),
    execute: (_: string, [name, value]: unknown[]) => Promise.resolve(written.set(name, value)),
  };
  const database = {
    read: () => em,
    write: async (work: (of: typeof em) => Promise<unknown>) => {
      if (state.isAway) throw new Error('deadlock detected');
      return work(em);
    },
  } as unknown as Database;
  const opening = () => StoredReceiptMarks.open({ database, now: () => 1_000_000, onError: () => (state.errors += 1) });
  return { written, state, opening };
}

test('what was noted is written when a node stops, of however many devices', async () => {
  const { written, opening } = open();
  const marks = await opening();
  for (let device = 0; device < 1_200; device += 1) marks.note(device, 1_000_500);
  await marks.stop();
  expect(written.size).toBe(1_200);
});

test('a node starts although what has passed cannot be forgotten just now', async () => {
  const { state, opening } = open({ rows: [PASSED] });
  state.isAway = true;
  const marks = await opening();
  expect([...marks.known, state.errors]).toEqual([1]);
  await marks.stop();
});

test('while the database is away that is told once a second, not ten times', async () => {
  const { written, state, opening } = open();
  const marks = await opening();
  state.isAway = true;
  marks.note(7, 1_000_500);
  await pause(600);
  expect(state.errors).toBe(1);
  state.isAway = false;
  await marks.stop();
  expect([...written]).toEqual([['receipt times of device 7', '1000500']]);
});
