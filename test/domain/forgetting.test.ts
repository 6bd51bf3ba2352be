import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { conflict, noDatabase } from '../../src/errors.ts';
import { sweepCalls } from '../../src/domain/receiving/sweep-calls.ts';
import { Sweeper } from '../../src/scheduling/sweeper.ts';
import { replayPages } from '../../src/domain/replay/replay-pages.ts';
import type { DeviceInfo } from '../../src/domain/ingest-cache/ingest-cache.ts';
import type { Batch } from '../../src/domain/ports/store.ts';
import { fieldId } from '../../src/domain/products/field-id.ts';
import { sweepLateValues } from '../../src/domain/measurements/sweep-late-values.ts';
import { Purger } from '../../src/measurement-store/purger.ts';
import { Plans } from '../../src/domain/plans/plans.ts';
import { sweepRetention, type SweptHistory } from '../../src/domain/plans/sweep-retention.ts';
import { callRow } from '../support/call-row.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { DATABASES } from '../support/server.ts';

const DAY = 86_400_000;
const goesOn = (): boolean => false;

describe.each(DATABASES)('what is deleted is forgotten by the store, %s', (name) => {
  let domain: OpenDomain;
  beforeAll(async () => {
    domain = await openDomain(name);
  });
  afterAll(() => domain.close());

  /** A device with two fields and a value of each. */
  async function recorded(): Promise<DeviceInfo> {
    const fields = ['A', 'B'].map((identifier) => ({ identifier, type: 'FLOAT' as const }));
    const product = await domain.products.create(domain.access, { name: 'p', fields });
    const [row] = await domain.devices.create(domain.access, product.id, [{ name: 'd' }], 'unlimited');
    const device = (await domain.ingestCache.device(row!.id)) as DeviceInfo;
    const entries = ['A', 'B'].map((field) => ({ field, value: 1 }));
    await domain.recorder.record(device, entries, { limited: false, receivedAt: domain.clock.now });
    expect(await keysLeft(device)).toEqual(keysOf(device));
    return device;
  }

  const keysOf = (device: DeviceInfo): number[] => [...device.product.fieldsByKey.keys()];

  /** The fields of which the store still has values, whatever the catalogue knows. */
  async function keysLeft(device: DeviceInfo): Promise<number[]> {
    const rows = await domain.store.latest([{ deviceKey: device.key, fieldKeys: keysOf(device) }]);
    return rows.map(({ fieldKey }) => fieldKey).toSorted((a, b) => a - b);
  }

  /** A value of each of its fields, accepted by a node that has not heard yet that they are gone. */
  const lateFor = (device: DeviceInfo, timestamp = 1): Batch => {
    const fieldKeys = keysOf(device);
    const ones = fieldKeys.map(() => 1);
    const timestamps = fieldKeys.map(() => timestamp);
    return { deviceKey: device.key, receivedAt: domain.clock.now, fieldKeys, timestamps, values: ones };
  };

  test('values of a field', async () => {
    const device = await recorded();
    const [a, b] = keysOf(device);
    await domain.fields.remove(domain.access, fieldId(a!));
    await expect.poll(() => keysLeft(device)).toEqual([b]);
  });

  test('values of a device', async () => {
    const device = await recorded();
    await domain.devices.delete(domain.access, [device.id]);
    await expect.poll(() => keysLeft(device)).toEqual([]);
  });

  test('values and calls of a product', async () => {
    const device = await recorded();
    await domain.store.append({ batches: [], call: callRow(device.product.key, domain.clock.now) });
    await domain.products.delete(domain.access, device.productId);
    await expect.poll(() => keysLeft(device)).toEqual([]);
    expect(await domain.store.calls({ productKey: device.product.key, limit: 10 })).toEqual([]);
  });

  test('a product whose deletion was interrupted, later', async () => {
    const device = await recorded();
    const { access, products, devices, deviceList } = domain;
    const more = Array.from({ length: 1_100 }, (_, at) => ({ name: `d ${at}` }));
    await devices.create(access, device.productId, more, 'unlimited');
    const filter = { productId: device.productId };
    const left = async (): Promise<number> =>
      (await domain.database.read().getConnection().execute('select key from device where product_key = ?', [device.product.key])).length; // oxfmt-ignore
    let slices = 0;
    domain.cluster.onChanged(([change]) => {
      if (change?.kind === 'devices' && change.productId === device.productId && (slices += 1) === 1)
        throw new Error('power cut');
    });
    await expect(products.delete(access, device.productId)).rejects.toThrow('power cut');
    expect(await left()).toBe(101);
    await expect(products.get(access, device.productId)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(deviceList.count(access, filter)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await domain.ingestCache.device(device.id)).toBeNull();
    const { database } = domain;
    const unknownDevices = { forgetBefore: async () => {} };
    const { store, clock } = domain;
    await sweepCalls({ store, unknownDevices, products, days: 30, now: () => clock.now }, goesOn);
    expect(await left()).toBe(0);
    expect(await database.read().getConnection().execute('select key from product where key = ?', [device.product.key])).toEqual([]); // oxfmt-ignore
    await expect.poll(() => keysLeft(device)).toEqual([]);
  });

  test('calls of a product whose deletion was interrupted while they were removed go with the next sweep', async () => {
    const { product } = await recorded();
    const { store, products, clock, access } = domain;
    await store.append({ batches: [], call: callRow(product.key, clock.now) });
    const removing = vi.spyOn(store, 'removeCalls').mockRejectedValueOnce(new Error('power cut'));
    await expect(products.delete(access, product.id)).rejects.toThrow('power cut');
    removing.mockRestore();
    const calls = (): Promise<unknown[]> => store.calls({ productKey: product.key, limit: 10 });
    expect(await calls()).toHaveLength(1);
    const deps = { store, unknownDevices: { forgetBefore: async () => {} }, products, days: 30, now: () => clock.now };
    // A stop comes: what is not done by then is left to the next start.
    await sweepCalls(deps, () => true);
    expect(await calls()).toHaveLength(1);
    await sweepCalls(deps, goesOn);
    expect(await calls()).toEqual([]);
  });

  test('a stop waits for a slice of the calls of a product whose deletion goes on, not for all that it has', async () => {
    const { product } = await recorded();
    const { store, products, clock, access } = domain;
    const many = Array.from({ length: 1_100 }, () =>
      store.append({ batches: [], call: callRow(product.key, clock.now) }),
    );
    await Promise.all(many);
    const removing = vi.spyOn(store, 'removeCalls').mockRejectedValueOnce(new Error('power cut'));
    await expect(products.delete(access, product.id)).rejects.toThrow('power cut');
    removing.mockRestore();
    const left = async (): Promise<number> => (await store.calls({ productKey: product.key, limit: 2_000 })).length;
    const deps = { store, unknownDevices: { forgetBefore: async () => {} }, products, days: 30, now: () => clock.now };
    let looks = 0;
    await sweepCalls(deps, () => (looks += 1) > 1);
    expect(await left()).toBe(name === 'sqlite' ? 1_050 : 600);
    await sweepCalls(deps, goesOn);
    expect(await left()).toBe(0);
  });

  test('a stop waits for a slice of the calls that are too old, not for all of them', async () => {
    const { product } = await recorded();
    const { store, products, clock } = domain;
    const rows = Array.from({ length: 700 }, () => callRow(product.key, clock.now - 31 * DAY));
    await Promise.all(rows.map((call) => store.append({ batches: [], call })));
    const deps = { store, unknownDevices: { forgetBefore: async () => {} }, products, days: 30, now: () => clock.now };
    let looks = 0;
    await sweepCalls(deps, () => (looks += 1) > 1);
    expect(await store.calls({ productKey: product.key, limit: 1_000 })).toHaveLength(name === 'sqlite' ? 650 : 200);
    await sweepCalls(deps, goesOn);
    expect(await store.calls({ productKey: product.key, limit: 1_000 })).toEqual([]);
  });

  test('calls that are too old are forgotten at start, not ten minutes later', async () => {
    const { product } = await recorded();
    const now = domain.clock.now;
    await domain.store.append({ batches: [], call: callRow(product.key, now - 31 * DAY) });
    await domain.store.append({ batches: [], call: callRow(product.key, now - 29 * DAY) });
    const errors: unknown[] = [];
    const { store, products } = domain;
    const forgotten: number[] = [];
    const unknownDevices = { forgetBefore: async (time: number) => void forgotten.push((now - time) / DAY) };
    const deps = { store, unknownDevices, products, days: 30, now: () => now };
    const onError = (error: unknown): void => void errors.push(error);
    const sweeper = new Sweeper({ everyMs: 600_000, sweep: () => sweepCalls(deps, goesOn), onError });
    const ages = async (): Promise<number[]> =>
      (await store.calls({ productKey: product.key, limit: 10 })).map(({ receivedAt }) => (now - receivedAt) / DAY);
    await expect.poll(ages).toEqual([29]);
    await sweeper.stop();
    expect(errors).toEqual([]);
    expect(forgotten).toEqual([30]);
  });

  test('what another node commits for a device just after its purge is forgotten by the next sweep', async () => {
    const device = await recorded();
    const staying = await recorded();
    await domain.devices.delete(domain.access, [device.id]);
    await domain.store.settlePurges();
    expect(await keysLeft(device)).toEqual([]);
    await domain.store.append({ batches: [lateFor(device)] });
    expect(await keysLeft(device)).not.toEqual([]);
    await sweepLateValues({ ...domain, now: () => domain.clock.now }, goesOn);
    expect(await keysLeft(device)).toEqual([]);
    expect(await domain.store.lastHeard([device.key])).toEqual(new Map());
    expect(await keysLeft(staying)).not.toEqual([]);
    expect(await domain.store.lastHeard([staying.key])).not.toEqual(new Map());
  });

  test('… for a field just after its purge too, an hour later', async () => {
    const device = await recorded();
    const [a, b] = keysOf(device);
    await domain.fields.remove(domain.access, fieldId(a!));
    await domain.store.settlePurges();
    await domain.store.append({ batches: [lateFor(device)] });
    const sweep = async (): Promise<number[]> => {
      await sweepLateValues({ ...domain, now: () => domain.clock.now }, goesOn);
      return keysLeft(device);
    };
    expect(await sweep()).toEqual([a, b]);
    domain.clock.now += 3_600_001;
    expect(await sweep()).toEqual([b]);
    expect(await domain.database.read().execute('select * from removed_field')).toEqual([]);
  });

  test('… and what is committed between the last look of the purge and its end is found as well', async () => {
    const device = await recorded();
    const { database, store } = domain;
    const write = (sql: string, key: number): Promise<unknown> => database.write((em) => em.execute(sql, [key], 'run'));
    await write('delete from device where key = ?', device.key);
    await write('insert into purge (device_key) values (?)', device.key);
    const purger = new Purger({
      list: async (handsOver, after, limit) =>
        handsOver
          ? []
          : database
              .read()
              .execute(
                'select id, device_key as "deviceKey", field_key as "fieldKey", null as "intoDeviceKey" from purge where id > ? limit ?',
                [after, limit],
              ),
      last: async () => Infinity,
      settled: async () => {},
      handOver: async () => true,
      position: () => store.position(),
      forgetHeard: (key) => write('delete from device_state where device_key = ?', key),
      forget: async ({ deviceKey }) => {
        await store.remove({ deviceKey, fieldKeys: keysOf(device), from: 0, to: domain.clock.now + 1, dryRun: false });
        await store.append({ batches: [lateFor(device)] });
        return true;
      },
      end: (id) => write('delete from purge where id = ?', id),
      log: undefined,
    });
    await purger.settle();
    expect(await keysLeft(device)).not.toEqual([]);
    await sweepLateValues({ ...domain, now: () => domain.clock.now }, goesOn);
    expect(await keysLeft(device)).toEqual([]);
  });

  test('values older than the plan keeps are forgotten at start, the newest of each field is not; a busy device holds up no other, nor one that cannot be read', async () => {
    const now = domain.clock.now;
    const fields = ['A', 'B'].map((identifier) => ({ identifier, type: 'FLOAT' as const }));
    const product = await domain.products.create(domain.access, { name: 'p', fields });
    const made = async (plan: string): Promise<DeviceInfo> => {
      const [row] = await domain.devices.create(domain.access, product.id, [{ name: plan }], plan);
      const device = (await domain.ingestCache.device(row!.id)) as DeviceInfo;
      const at = (field: string, days: number) => ({ field, value: days, timestamp: (now - days * DAY) / 1000 });
      const entries = [at('A', 200), at('A', 91), at('A', 89), at('B', 300), at('B', 200)];
      const { stored } = await domain.recorder.record(device, entries, { limited: false, receivedAt: now });
      expect(stored).toBe(5);
      return device;
    };
    const busy = await made('free');
    const broken: DeviceInfo[] = [];
    for (let at = 0; at < 4; at += 1) broken.push(await made('standard'));
    const [free, unlimited] = [await made('free'), await made('unlimited')];
    const [errors, leftOut]: [unknown[], number[]] = [[], []];
    let isAway = false;
    const { database, store } = domain;
    const onError = (error: unknown): void => void errors.push(error);
    const dropOlderThan: typeof store.dropOlderThan = async (keys, before) => {
      if (keys.includes(busy.key)) throw conflict('The device is written to faster than its values can be removed.');
      return store.dropOlderThan(keys, before);
    };
    const ping = async (): Promise<void> => {
      if (isAway) throw noDatabase(new Error('away'));
    };
    const onLeftOut = (_: unknown, key: number): void => void leftOut.push(key);
    const swept: SweptHistory[] = [];
    const onSwept = async (of: SweptHistory): Promise<void> => void swept.push(of);
    const remove: typeof store.remove = async (query) => {
      if (isAway || broken.some(({ key }) => key === query.deviceKey)) throw noDatabase(new Error('unreadable'));
      return store.remove(query);
    };
    const latest: typeof store.latest = (queries) => store.latest(queries);
    const plans = new Plans({ free: 90, standard: 730 });
    const sweptStore = { dropOlderThan, ping, remove, latest };
    const deps = { database, store: sweptStore, plans, now: () => now, onLeftOut, onSwept };
    const sweeper = new Sweeper({ everyMs: 600_000, sweep: (isStopping) => sweepRetention(deps, isStopping), onError });
    const left = async (device: DeviceInfo): Promise<unknown[]> => {
      const ranges = keysOf(device).map((fieldKey) =>
        store.range({ deviceKey: device.key, fieldKey, newestFirst: false, limit: 10 }),
      );
      return (await Promise.all(ranges)).map(({ values }) => values);
    };
    await expect.poll(() => left(free)).toEqual([[89], [200]]);
    await expect.poll(() => leftOut.length).toBe(1 + broken.length);
    await sweeper.stop();
    expect(await left(unlimited)).toEqual([[200, 91, 89], [300, 200]]); // oxfmt-ignore
    const allLeft = [[200, 91, 89], [300, 200]]; // oxfmt-ignore
    expect(leftOut).toEqual([busy, ...broken].map(({ key }) => key));
    for (const device of [busy, ...broken]) expect(await left(device)).toEqual(allLeft);
    expect(errors).toEqual([]);
    expect(swept).toMatchObject([
      { plan: 'free', retentionDays: 90, devices: 1, measurements: 3, deviceIds: [free.id] },
    ]);
    // Where it is the database, it ends.
    isAway = true;
    leftOut.length = 0;
    const more = Array.from({ length: 8 }, () => ({ name: 'd' }));
    const others = await domain.devices.create(domain.access, product.id, more, 'standard');
    await expect(sweepRetention(deps, () => false)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(leftOut.length).toBeLessThan(others.length);
  });

  test('a replay takes no call received after it began, and "to" is exclusive', async () => {
    const { product } = await recorded();
    const began = domain.clock.now;
    const rows = [began - 5, began, began + 1].map((receivedAt) => callRow(product.key, receivedAt));
    for (const row of rows) await domain.store.append({ batches: [], call: row });
    const times = async (query: Parameters<typeof replayPages>[2]): Promise<number[]> => {
      const taken: number[] = [];
      for await (const page of replayPages(domain.store, product.key, query, began))
        taken.push(...page.map(({ receivedAt }) => receivedAt - began));
      return taken;
    };
    expect(await times({})).toEqual([-5, 0]);
    expect(await times({ to: began })).toEqual([-5]);
    expect(await times({ from: began })).toEqual([0]);
    const callIds = rows.map(({ id }) => id);
    expect(await times({ callIds, to: began })).toEqual([-5]);
    expect(await times({ callIds, from: began, to: began + 1 })).toEqual([0]);
  });
});
