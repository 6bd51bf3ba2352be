import { expect, test } from 'vitest';
import { commitJudged } from '../../../src/domain/alerts/commit-judged.ts';
import type { Judged } from '../../../src/domain/alerts/judged.ts';
import { noDatabase } from '../../../src/errors.ts';
import { openDomain } from '../../support/open-domain.ts';

const judged = [1, 2, 3].map((deviceKey): Judged => ({
  deviceKey,
  workspaceId: 'w',
  before: null,
  after: null,
  dueAt: null,
  changes: [],
}));

/** Writes that fail as said for a device, with what was written. */
function writes(failing: (deviceKeys: number[], isLast: boolean) => Error | null) {
  const done: string[] = [];
  const write = (some: readonly Judged[], setAside: readonly number[], isLast: boolean): Promise<void> => {
    const keys = some.map(({ deviceKey }) => deviceKey);
    const error = failing(keys, isLast);
    if (error !== null) return Promise.reject(error);
    done.push(`${keys.join(' ')}${isLast ? ` last, without ${setAside.join(' ')}` : ''}`);
    return Promise.resolve();
  };
  return { done, write };
}

const never = (): boolean => false;

test('all are one commit', async () => {
  const { done, write } = writes(() => null);
  expect((await commitJudged(judged, write, never)).size).toBe(0);
  expect(done).toEqual(['1 2 3 last, without ']);
});

test('a device that cannot be committed stops no others', async () => {
  const tooBig = new Error('string or blob too big');
  const { done, write } = writes((keys) => (keys.includes(2) ? tooBig : null));
  expect([...(await commitJudged(judged, write, never))]).toEqual([[2, tooBig]]);
  expect(done).toEqual(['1', '3', ' last, without 2']);
});

test('nobody is set aside while the database is away, or nothing can be committed, or it is to be judged again', async () => {
  const away = writes(() => noDatabase(new Error('gone')));
  await expect(commitJudged(judged, away.write, never)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  const full = writes((keys, isLast) => (isLast || keys.length > 0 ? new Error('disk full') : null));
  await expect(commitJudged(judged, full.write, never)).rejects.toThrow('disk full');
  const moved = new Error('moved');
  const { done, write } = writes((keys) => (keys.includes(2) ? moved : null));
  await expect(commitJudged(judged, write, (error) => error === moved)).rejects.toBe(moved);
  expect(done).toEqual([]);
});

test('a device whose alert cannot be stored is set aside, and the alerts of others fire', async () => {
  const { database, access, products, devices, rules, ingestCache, recorder, clock, close } =
    await openDomain('sqlite');
  try {
    const product = await products.create(access, { name: 'p', fields: [{ identifier: 'A', type: 'FLOAT' }] });
    const made = await devices.create(access, product.id, [{ name: 'bad' }, { name: 'good' }]);
    const levels = [{ severity: 'INFO' as const, all: [{ field: 'A', operator: 'GT' as const, value: 30 }] }];
    await rules.create(access, product.id, { name: 'r', levels });
    await database.write((em) =>
      em.execute(
        `create trigger too_big before insert on alert when new.device_key = ${made[0]!.key}
         begin select raise(abort, 'string or blob too big'); end`,
      ),
    );
    for (const { id } of made)
      await recorder.record((await ingestCache.device(id))!, [{ field: 'A', value: 31 }], {
        receivedAt: clock.now,
        limited: false,
      });
    const states = () => database.read().execute('select device_key as "key", state from alert');
    await expect.poll(states, { interval: 20 }).toEqual([{ key: made[1]!.key, state: 'FIRING' }]);
    // It goes on with its next value.
    await database.write((em) => em.execute('drop trigger too_big'));
    await recorder.record((await ingestCache.device(made[0]!.id))!, [{ field: 'A', value: 32 }], {
      receivedAt: clock.now + 1,
      limited: false,
    });
    await expect.poll(async () => (await states()).length, { interval: 20 }).toBe(2);
  } finally {
    await close();
  }
});
