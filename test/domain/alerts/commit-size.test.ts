import { expect, test } from 'vitest';
import { openDomain } from '../../support/open-domain.ts';
import { DATABASES } from '../../support/server.ts';

/** Devices whose alerts fire at once. */
const DEVICES = 300;

test.each(DATABASES)('what many devices change at once is told in several commits, each once, on %s', async (name) => {
  const { database, access, products, devices, rules, ingestCache, recorder, clock, close } = await openDomain(name);
  try {
    const product = await products.create(access, { name: 'p', fields: [{ identifier: 'A', type: 'FLOAT' }] });
    const drafts = Array.from({ length: DEVICES }, (_, at) => ({ name: `d${at}` }));
    const made = await devices.create(access, product.id, drafts, 'standard');
    const sizes: number[] = [];
    const write = database.write.bind(database);
    const count = async (): Promise<number> =>
      Number((await database.read().execute<{ n: number }[]>('select count(*) as n from alert'))[0]!.n);
    let known = 0;
    database.write = async (work, party) => {
      const result = await write(work, party);
      const now = await count();
      // Counts of commits side by side may come in another order.
      if (now > known) {
        sizes.push(now - known);
        known = now;
      }
      return result;
    };
    const levels = [{ severity: 'INFO' as const, all: [{ field: 'A', operator: 'GT' as const, value: 30 }] }];
    await rules.create(access, product.id, { name: 'live', levels });
    const given = { receivedAt: clock.now, limited: false };
    const infos = await Promise.all(made.map(({ id }) => ingestCache.device(id)));
    await Promise.all(infos.map((info) => recorder.record(info!, [{ field: 'A', value: 31 }], given)));
    await expect.poll(count, { interval: 50 }).toBe(DEVICES);
    await rules.create(access, product.id, { name: 'saved', levels });
    await expect.poll(count, { interval: 50 }).toBe(2 * DEVICES);
    await expect.poll(() => sizes.reduce((sum, size) => sum + size, 0)).toBe(2 * DEVICES);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(200);
  } finally {
    await close();
  }
});
