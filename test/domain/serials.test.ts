import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EventLoopQueue } from '../../src/scheduling/event-loop-queue.ts';
import { countTurns } from '../support/loop-turns.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { DATABASES } from '../support/server.ts';

/** Several slices. */
const DEVICES = 15_000;
const AT_ONCE = 3_000;
const MAX_BYTES = 16 << 20;

describe.each(DATABASES)('the serial numbers of a large product on %s', (name) => {
  let domain: OpenDomain;
  let productId: string;
  const expected = new Map<string, string>();
  const create = async (serials: string[]): Promise<void> => {
    const devices = serials.map((serialNumber) => ({ name: serialNumber, serialNumber }));
    const created = await domain.devices.create(domain.access, productId, devices, 'unlimited');
    for (const { id, serialNumber } of created) expected.set(serialNumber, id);
  };
  const serials = async () => domain.ingestCache.serials((await domain.ingestCache.product(productId))!);

  beforeAll(async () => {
    domain = await openDomain(name);
    const workspace = await domain.workspaces.create(domain.access, 'w');
    productId = (await domain.products.create(domain.access, { name: 'p', workspaceId: workspace.id })).id;
    for (let from = 0; from < DEVICES; from += AT_ONCE)
      await create(Array.from({ length: AT_ONCE }, (_, at) => `${at % 2 === 0 ? 'a"😀' : 'Ä～'} ${from + at}`));
  });
  afterAll(() => domain.close());

  test('are all there, read with others having their turn in between, and never more than wanted', async () => {
    const { load } = await serials();
    const counted = countTurns();
    const pieces = (await load(MAX_BYTES, new EventLoopQueue({ name: 'test', maxTurnMs: 4 })))!;
    counted.stop();
    expect(new Map(Object.entries(JSON.parse(Buffer.concat(pieces).toString())))).toEqual(expected);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(250_000);
    expect(counted.turns).toBeGreaterThan(2);
    expect(await load(100_000, new EventLoopQueue({ name: 'test', maxTurnMs: 4 }))).toBeNull();
  });

  test('have another version when a device changes, and the same when the product does', async () => {
    const { version } = await serials();
    await domain.products.update(domain.access, productId, { name: 'another' });
    expect((await serials()).version).toBe(version);
    await create(['new']);
    const { version: next, load } = await serials();
    expect(next).not.toBe(version);
    const pieces = (await load(MAX_BYTES, new EventLoopQueue({ name: 'test', maxTurnMs: 4 })))!;
    expect(JSON.parse(Buffer.concat(pieces).toString())).toMatchObject({ new: expected.get('new') });
    await domain.cluster.changed([{ kind: 'everything' }]);
    expect((await serials()).version).not.toBe(next);
  });
});
