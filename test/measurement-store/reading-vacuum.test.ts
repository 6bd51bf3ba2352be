import type pg from 'pg';
import { expect, test } from 'vitest';
import { ReadingVacuum } from '../../src/measurement-store/postgres/reading-vacuum.ts';

test('a large table is vacuumed when a fifth of its rows is gone, however many that are', async () => {
  const statements: string[] = [];
  const client = {
    query: async (query: string | { text: string }) => {
      statements.push(typeof query === 'string' ? query : query.text);
      return { rows: [{ reltuples: 2_000_000 }] };
    },
    release: () => {},
  };
  const vacuum = new ReadingVacuum({ connect: async () => client } as unknown as pg.Pool, undefined);
  const vacuums = (): number => statements.filter((text) => text.startsWith('VACUUM')).length;
  const lose = async (rows: number): Promise<void> => {
    vacuum.noteGone(rows);
    await vacuum.runIfDue();
  };
  await lose(399_999);
  expect(vacuums()).toBe(0);
  await lose(1);
  expect(vacuums()).toBe(1);
  // And counts from the beginning.
  await lose(399_999);
  expect(vacuums()).toBe(1);
});
