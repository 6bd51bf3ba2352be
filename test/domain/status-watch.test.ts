import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LiveQueue } from '../../src/domain/bounded-stream.ts';
import type { StatusEvent } from '../../src/domain/devices/status-watch.ts';
import { DeviceSchema } from '../../src/domain/entities/device.ts';
import { ProductSchema } from '../../src/domain/entities/product.ts';
import { noDatabase } from '../../src/errors.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { DATABASES } from '../support/server.ts';

describe.each(DATABASES)('who subscribes to the status of devices, %s', (name) => {
  let domain: OpenDomain;
  beforeAll(async () => {
    domain = await openDomain(name);
  });
  afterAll(() => domain.close());

  test('is told of what changes from then on, not of what had changed and others are yet to be told', async () => {
    const [workspaceId] = domain.access.workspaceIds() as [string];
    const subscribe = (): Promise<LiveQueue<StatusEvent>> => domain.statusWatch.subscribe([workspaceId], () => true);
    const told = async (queue: LiveQueue<StatusEvent>): Promise<boolean[]> =>
      (await queue.take(100)).map(({ online }) => online);
    const product = await domain.products.create(domain.access, { name: 'p', offlineAfterSeconds: 60 });
    const [device] = await domain.devices.create(domain.access, product.id, [{ name: 'd' }], 'unlimited');
    const early = await subscribe();

    // As on another node, whose word of it is still on its way.
    const receivedAt = domain.clock.now;
    const values = { fieldKeys: [1], timestamps: [receivedAt], values: [1] };
    await domain.store.append({ batches: [{ deviceKey: device!.key, receivedAt, ...values }] });
    domain.clock.now += 1_000;
    const afterHeard = await subscribe();
    domain.feed.recorded();
    expect(await told(early)).toEqual([true]);

    domain.clock.now += 61_000;
    const afterSilent = await subscribe();
    expect(await told(early)).toEqual([false]);
    expect(await told(afterHeard)).toEqual([false]);

    await domain.products.update(domain.access, product.id, { offlineAfterSeconds: 3600 });
    for (const queue of [early, afterHeard, afterSilent]) {
      expect(await told(queue)).toEqual([true]);
      await queue.return();
    }
  });

  test('is told of limits that were changed unheard, and of nothing deleted unheard, also when the database is away first', async () => {
    const [workspaceId] = domain.access.workspaceIds() as [string];
    const product = await domain.products.create(domain.access, { name: 'q', offlineAfterSeconds: 60 });
    const [there, gone] = await domain.devices.create(
      domain.access,
      product.id,
      [{ name: 'a' }, { name: 'b' }],
      'unlimited',
    );
    const receivedAt = domain.clock.now;
    const values = { fieldKeys: [1], timestamps: [receivedAt], values: [1] };
    await domain.store.append({
      batches: [there!, gone!].map(({ key: deviceKey }) => ({ deviceKey, receivedAt, ...values })),
    });
    const queue = await domain.statusWatch.subscribe([workspaceId], ({ productId }) => productId === product.id);

    // As by another node, whose word of it is lost.
    await domain.database.write(async (em) => {
      await em.nativeDelete(DeviceSchema, { id: gone!.id });
      await em.nativeUpdate(ProductSchema, { id: product.id }, { offlineAfterSeconds: 1 });
    });
    domain.clock.now += 5_000;
    domain.pause.afterRead = () => Promise.reject(noDatabase(new Error('away')));
    await domain.cluster.changed([{ kind: 'everything' }]);
    expect(await queue.take(100)).toMatchObject([{ deviceId: there!.id, online: false }]);
    domain.clock.now += 100_000;
    await domain.cluster.changed([{ kind: 'everything' }]);
    expect(domain.pause.afterRead).toBeNull();
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const later = queue.take(100).then((events) => events.map(({ deviceId }) => deviceId));
    await queue.return();
    expect(await later).toEqual([]);
  });
});
