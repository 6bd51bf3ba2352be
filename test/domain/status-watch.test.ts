import { afterAll, beforeAll, describe, expect, test, type TestContext, vi } from 'vitest';
import type { LiveQueue } from '../../src/scheduling/bounded-stream.ts';
import type { StatusEvent } from '../../src/domain/device-status/watched-device.ts';
import { StatusWatch } from '../../src/domain/device-status/status-watch.ts';
import { DeviceSchema } from '../../src/domain/entities/device.ts';
import { ProductSchema } from '../../src/domain/entities/product.ts';
import { noDatabase } from '../../src/errors.ts';
import { countTurns } from '../support/loop-turns.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { EITHER_DATABASE } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';

const TURNS = { next: async () => {}, spend: () => {} };

describe.each(EITHER_DATABASE)('who subscribes to the status of devices, %s', (name) => {
  let domain: OpenDomain;
  beforeAll(async () => {
    domain = await openDomain(name);
  });
  afterAll(() => domain.close());

  async function ownDomain(atEnd: TestContext['onTestFinished']): Promise<OpenDomain> {
    const own = await openDomain(name);
    atEnd(() => own.close());
    return own;
  }

  test('is told of what changes from then on, not of what had changed and others are yet to be told', async () => {
    const [workspaceId] = domain.access.workspaceIds() as [string];
    const subscribe = (): Promise<LiveQueue<StatusEvent>> =>
      domain.statusWatch.subscribe([workspaceId], () => true, TURNS, 'tenant');
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

  test('pays in its turn for the devices that are read for it, and for none that are watched already', async () => {
    const [workspaceId] = domain.access.workspaceIds() as [string];
    const product = await domain.products.create(domain.access, { name: 'paid' });
    const many = Array.from({ length: 100 }, () => ({ name: 'd' }));
    await domain.devices.create(domain.access, product.id, many, 'unlimited');
    const subscribe = async (): Promise<{ queue: LiveQueue<StatusEvent>; spentMs: number; turns: number }> => {
      let [spentMs, turns] = [0, 0];
      const next = async (): Promise<void> => void (turns += 1);
      const spend = (ms: number): void => void (spentMs += ms);
      const queue = await domain.statusWatch.subscribe([workspaceId], () => true, { next, spend }, 'tenant');
      return { queue, spentMs, turns };
    };
    const [first, second] = [await subscribe(), await subscribe()];
    for (const { queue } of [first, second]) await queue.return();
    const again = await subscribe();
    await again.queue.return();
    for (const { turns, spentMs } of [first, again]) expect([turns, spentMs >= 1]).toEqual([1, true]);
    expect(second).toMatchObject({ turns: 1, spentMs: 0 });
  });

  test('is refused where a workspace has more than half of what others leave free, so that a small one finds room', async ({
    onTestFinished,
  }) => {
    const domain = await ownDomain(onTestFinished);
    const { access, authenticator, devices, products, workspaces } = domain;
    const numbers: Record<string, number> = { large: 6, middle: 5, small: 2, other: 3 };
    const ids = new Map<string, string>();
    for (const name of Object.keys(numbers)) ids.set(name, (await workspaces.create(access, name)).id);
    const owner = (await authenticator.authenticate(ADMIN_TOKEN))!;
    for (const [name, count] of Object.entries(numbers)) {
      const product = await products.create(owner, { name, workspaceId: ids.get(name)! });
      await devices.create(
        owner,
        product.id,
        Array.from({ length: count }, () => ({ name })),
        'unlimited',
      );
    }
    const now = (): number => domain.clock.now;
    const watch = new StatusWatch({ ...domain, now, onError: () => {}, maxWatched: 10 });
    const subscribe = (name: string): Promise<LiveQueue<StatusEvent>> =>
      watch.subscribe([ids.get(name)!], () => true, TURNS, 'tenant');
    // Says nothing of how many devices others have, and leaves nothing behind.
    await expect(subscribe('large')).rejects.toMatchObject({ code: 'OVERLOADED', message: /^\D+$/ });
    const middle = await subscribe('middle');
    const small = await subscribe('small');
    await expect(subscribe('other')).rejects.toMatchObject({ code: 'OVERLOADED' });
    for (const queue of [middle, small]) await queue.return();
    await (await subscribe('other')).return();
  });

  test('leaves nothing behind when it ends as soon as it began', async () => {
    const [workspaceId] = domain.access.workspaceIds() as [string];
    const subscribe = domain.feed.subscribe.bind(domain.feed);
    const open = new Set<unknown>();
    const spied = vi.spyOn(domain.feed, 'subscribe').mockImplementation(async (...asked) => {
      const events = await subscribe(...asked);
      // As long as a database takes.
      await new Promise((resolve) => setTimeout(resolve, 20));
      open.add(events);
      const end = events.return.bind(events);
      events.return = () => {
        open.delete(events);
        return end();
      };
      return events;
    });
    for (let times = 0; times < 30; times += 1)
      await (await domain.statusWatch.subscribe([workspaceId], () => true, TURNS, 'tenant')).return();
    await Promise.all(spied.mock.results.map(({ value }) => value));
    await expect.poll(() => open.size).toBe(0);
    spied.mockRestore();
  });

  test('is told in turns, each once and in order: thousands may wait for one device', async () => {
    const [workspaceId] = domain.access.workspaceIds() as [string];
    const product = await domain.products.create(domain.access, { name: 'turning', offlineAfterSeconds: 3600 });
    const devices = await domain.devices.create(domain.access, product.id, [{ name: 'a' }, { name: 'b' }], 'unlimited');
    const isMine = ({ productId }: { productId: string }): boolean => productId === product.id;
    const subscribe = (): Promise<LiveQueue<StatusEvent>> =>
      domain.statusWatch.subscribe([workspaceId], isMine, TURNS, 'tenant');
    const queues = await Promise.all(Array.from({ length: 5_000 }, subscribe));
    const turns = countTurns();
    const woken: number[] = [];
    const late: Promise<LiveQueue<StatusEvent>>[] = [];
    const told = queues.map(async (queue, at) => {
      const [event] = await queue.take(1);
      woken.push(turns.turns);
      if (at === 0) {
        // One leaves and one comes before all are told.
        void queues.at(-1)!.return();
        domain.clock.now += 10_000;
        late.push(subscribe());
      }
      const [next] = await queue.take(1);
      return [event?.deviceId, next?.deviceId];
    });
    const receivedAt = domain.clock.now;
    const values = { fieldKeys: [1], timestamps: [receivedAt], values: [1] };
    await domain.store.append({ batches: devices.map(({ key }) => ({ deviceKey: key, receivedAt, ...values })) });
    domain.feed.recorded();
    const all = await Promise.all(told);
    turns.stop();
    expect(all.pop()).toEqual([undefined, undefined]);
    const first = all[0]!;
    expect([...first].sort()).toEqual(devices.map(({ id }) => id).sort());
    for (const ids of all) expect(ids).toEqual(first);
    // What they do takes some 50 ms.
    expect(new Set(woken).size).toBeGreaterThan(3);

    domain.clock.now += 3_700_000;
    const comer = await late[0]!;
    expect(await comer.take(1)).toMatchObject([{ online: false }]);
    await Promise.all([comer, ...queues].map((queue) => queue.return()));
  });

  // These mostly wait: side by side, each in a domain of its own.
  test.concurrent('is told of limits that were changed unheard, and of nothing deleted unheard, also when the database is away first', async ({
    expect,
    onTestFinished,
  }) => {
    const domain = await ownDomain(onTestFinished);
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
    const queue = await domain.statusWatch.subscribe(
      [workspaceId],
      ({ productId }) => productId === product.id,
      TURNS,
      'tenant',
    );

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

  test.concurrent('is told once of a device that is heard while all are read again', async ({
    expect,
    onTestFinished,
  }) => {
    const domain = await ownDomain(onTestFinished);
    const [workspaceId] = domain.access.workspaceIds() as [string];
    const product = await domain.products.create(domain.access, { name: 't' });
    const [device] = await domain.devices.create(domain.access, product.id, [{ name: 'd' }], 'unlimited');
    const queue = await domain.statusWatch.subscribe(
      [workspaceId],
      ({ productId }) => productId === product.id,
      TURNS,
      'tenant',
    );
    // What it asks when it begins to listen is over.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const reading = Promise.withResolvers<void>();
    domain.pause.afterRead = () => reading.promise;
    await domain.cluster.changed([{ kind: 'everything' }]);
    await expect.poll(() => domain.pause.afterRead).toBeNull();

    const receivedAt = domain.clock.now;
    const values = { fieldKeys: [1], timestamps: [receivedAt], values: [1] };
    await domain.store.append({ batches: [{ deviceKey: device!.key, receivedAt, ...values }] });
    domain.feed.recorded();
    await new Promise((resolve) => setTimeout(resolve, 300));
    reading.resolve();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const told = await queue.take(100);
    await queue.return();
    expect(told).toMatchObject([{ deviceId: device!.id, online: true }]);
  });

  test.concurrent('costs others little: a hundred changes of a product read none of its devices, those of an unwatched workspace neither', async ({
    expect,
    onTestFinished,
  }) => {
    const domain = await ownDomain(onTestFinished);
    const [workspaceId] = domain.access.workspaceIds() as [string];
    const elsewhere = await domain.workspaces.create(domain.access, 'elsewhere');
    const access = (await domain.authenticator.authenticate(ADMIN_TOKEN))!;
    const product = await domain.products.create(access, { name: 'r', workspaceId });
    const unwatched = await domain.products.create(access, { name: 's', workspaceId: elsewhere.id });
    const [device] = await domain.devices.create(access, product.id, [{ name: 'a' }], 'unlimited');
    const [other] = await domain.devices.create(access, unwatched.id, [{ name: 'b' }], 'unlimited');
    const receivedAt = domain.clock.now;
    const values = { fieldKeys: [1], timestamps: [receivedAt], values: [1] };
    await domain.store.append({ batches: [{ deviceKey: device!.key, receivedAt, ...values }] });
    const queue = await domain.statusWatch.subscribe(
      [workspaceId],
      ({ productId }) => productId === product.id,
      TURNS,
      'tenant',
    );
    // What it asks when it begins to listen is over.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const asked = vi.spyOn(domain.store, 'lastHeard');
    const keysAsked = (): number[] => asked.mock.calls.flatMap(([keys]) => [...keys]);

    for (let seconds = 100; seconds < 200; seconds += 1)
      await domain.products.update(access, product.id, { offlineAfterSeconds: seconds });
    await domain.cluster.changed([{ kind: 'devices', productId: unwatched.id, ids: [other!.id] }]);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(keysAsked().filter((key) => key === device!.key || key === other!.key)).toEqual([]);

    // What does alter the status is told, by the last of its limits.
    domain.clock.now += 50_000;
    await domain.products.update(access, product.id, { offlineAfterSeconds: 60 });
    await domain.products.update(access, product.id, { offlineAfterSeconds: 40 });
    expect(await queue.take(100)).toMatchObject([{ deviceId: device!.id, online: false }]);
    expect(keysAsked().filter((key) => key === device!.key).length).toBeLessThan(4);
    await queue.return();
    asked.mockRestore();
  });

  test.concurrent('waits for nobody who has thousands of devices read, whose changes meanwhile are told', async ({
    expect,
    onTestFinished,
  }) => {
    const domain = await ownDomain(onTestFinished);
    const [large] = domain.access.workspaceIds() as [string];
    const small = await domain.workspaces.create(domain.access, 'small');
    const access = (await domain.authenticator.authenticate(ADMIN_TOKEN))!;
    const product = await domain.products.create(access, {
      name: 'l',
      workspaceId: large,
      offlineAfterSeconds: 3600,
    });
    const many = Array.from({ length: 4_500 }, () => ({ name: 'd' }));
    const devices = await domain.devices.create(access, product.id, many, 'unlimited');
    const receivedAt = domain.clock.now - 60_000;
    const heard = [devices[0]!, devices.at(-1)!];
    await domain.store.append({
      batches: heard.map(({ key: deviceKey }) => ({
        deviceKey,
        receivedAt,
        fieldKeys: [1],
        timestamps: [receivedAt],
        values: [1],
      })),
    });
    const lastHeard = domain.store.lastHeard.bind(domain.store);
    let pages = 0;
    domain.store.lastHeard = async (keys) => {
      const found = await lastHeard(keys);
      pages += 1;
      await new Promise((resolve) => setTimeout(resolve, 400));
      return found;
    };
    const ends: string[] = [];
    const subscribe = (workspaceId: string): Promise<LiveQueue<StatusEvent>> =>
      domain.statusWatch.subscribe([workspaceId], () => true, TURNS, 'tenant').finally(() => ends.push(workspaceId));
    const ofLarge = subscribe(large);
    await expect.poll(() => pages).toBe(1);
    // Of a page that was read, and of one that is yet to be: that one is as it was.
    const [first, last] = heard as [(typeof heard)[0], (typeof heard)[0]];
    await domain.devices.update(access, first.id, { offlineAfterSeconds: 10 });
    await domain.devices.update(access, last.id, { name: 'of another name' });
    await (await subscribe(small.id)).return();
    expect(ends).toEqual([small.id]);
    const events = await ofLarge;
    expect(await events.take(1)).toMatchObject([{ deviceId: first.id, online: false }]);
    domain.clock.now += 3_600_000;
    expect(await events.take(1)).toMatchObject([{ deviceId: last.id, online: false }]);
    await events.return();
  });

  test.concurrent('has all read again no more than half of the time, however often something may have been missed', async ({
    expect,
    onTestFinished,
  }) => {
    const domain = await ownDomain(onTestFinished);
    const [workspaceId] = domain.access.workspaceIds() as [string];
    const product = await domain.products.create(domain.access, { name: 'u' });
    await domain.devices.create(domain.access, product.id, [{ name: 'd' }], 'unlimited');
    const queue = await domain.statusWatch.subscribe([workspaceId], () => true, TURNS, 'tenant');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const lastHeard = domain.store.lastHeard.bind(domain.store);
    let reading = 0;
    domain.store.lastHeard = async (keys) => {
      const from = performance.now();
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      reading += performance.now() - from;
      return lastHeard(keys);
    };
    const from = performance.now();
    while (performance.now() - from < 7_500) {
      await domain.cluster.changed([{ kind: 'everything' }]);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(reading).toBeGreaterThan(1_000);
    expect(reading / (performance.now() - from)).toBeLessThan(0.8);
    await queue.return();
  });
});
