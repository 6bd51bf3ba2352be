import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LiveQueue } from '../../src/domain/bounded-stream.ts';
import type { StatusEvent } from '../../src/domain/devices/status-watch.ts';
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
});
