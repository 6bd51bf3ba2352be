import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ChangeMark } from '../../src/cluster/change-mark.ts';
import type { Database } from '../../src/domain/ports/database.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';

let domain: OpenDomain;
const marks: ChangeMark[] = [];
beforeAll(async () => {
  domain = await openDomain('postgres');
});
afterEach(() => {
  for (const mark of marks.splice(0)) mark.stop();
});
afterAll(() => domain.close());

/** A node's mark, how often it was told that something has changed, and what the database has in store for it. */
async function node(): Promise<{ mark: ChangeMark; told: number; errors: unknown[]; database: { refuses: number } }> {
  const state = { told: 0, errors: [] as unknown[], database: { refuses: 0 } };
  const database: Pick<Database, 'read' | 'write'> = {
    read: () => domain.database.read(),
    write: (work) => (state.database.refuses-- > 0 ? Promise.reject(new Error('away')) : domain.database.write(work)),
  };
  const mark = new ChangeMark({
    database: database as Database,
    onMoved: () => (state.told += 1),
    onError: (error) => state.errors.push(error),
  });
  marks.push(mark);
  await mark.start();
  return Object.assign(state, { mark });
}

test('a move has been seen by all nodes when the word is given, also by those that start later: once', async () => {
  const [here, there] = [await node(), await node()];
  await here.mark.move();
  expect(there.told).toBe(1);
  const late = await node();
  await Promise.all([here.mark.move(), there.mark.move()]);
  expect(late.told).toBeGreaterThan(0);
  const before = [here, there, late].map(({ told }) => told);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect([here, there, late].map(({ told }) => told)).toEqual(before);
});

test('a move that the database does not take is made up for', async () => {
  const [here, there] = [await node(), await node()];
  here.database.refuses = 2;
  await here.mark.move();
  await expect.poll(() => there.told).toBe(1);
  expect(here.errors).toHaveLength(2);
});
