import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { DeviceOrder, DevicePosition } from '../../src/domain/devices/device-order.ts';
import { DeviceScan, type Scope } from '../../src/domain/devices/device-scan.ts';
import { countTurns } from '../support/loop-turns.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { DATABASES } from '../support/server.ts';

/** Several slices of SQLite. */
const DEVICES = 18_000;
const AT_ONCE = 3_000;
/** Spread over all slices. */
const EVERY = 501;
/** Workspaces that have few. */
const SMALL = 60;
const FEW = 100;
/** When some of those that are looked for were heard: two at once, the newest among the first. */
const HEARD_AT = new Map([[1, 9_000], [5, 1_000], [17, 1_000], [25, 5_000], [38, 10_000]]); // oxfmt-ignore

describe.each(DATABASES)('a list among very many devices, %s', (name) => {
  let domain: OpenDomain;
  let productIds: string[];
  /** In the order of creation. */
  const devices: { name: string; serialNumber: string; productId: string }[] = [];

  beforeAll(async () => {
    domain = await openDomain(name);
    productIds = [];
    const product = async (of: string): Promise<void> => {
      const workspace = await domain.workspaces.create(domain.access, of);
      productIds.push((await domain.products.create(domain.access, { name: of, workspaceId: workspace.id })).id);
    };
    await product('one');
    await product('two');
    const create = async (productId: string, from: number, count: number): Promise<void> => {
      const some = Array.from({ length: count }, (_, at) => {
        const number = from + at;
        const isRare = number % EVERY === 0;
        // UTF-16 has them the other way round.
        const sign = number % 2 === 0 ? '😀' : '～';
        return { name: `${isRare ? 'rare' : 'usual'} ${sign} ${(number * 7919) % 1000}`, serialNumber: `s${number}` };
      });
      await domain.devices.create(domain.access, productId, some, 'unlimited');
      devices.push(...some.map((device) => ({ ...device, productId })));
    };
    for (let from = 0; from < DEVICES; from += AT_ONCE) await create(productIds[(from / AT_ONCE) % 2]!, from, AT_ONCE);
    for (let at = 0; at < SMALL; at += 1) {
      await product(`small ${at}`);
      await create(productIds.at(-1)!, DEVICES + at * FEW, FEW);
    }
    const rare = { orderBy: 'CREATED', descending: false, after: null, limit: 100, search: 'rare' } as const;
    const { items } = await domain.deviceList.page(domain.access, rare);
    for (const [at, receivedAt] of HEARD_AT) {
      const deviceKey = items[at]!.position[1];
      await domain.store.append({ batches: [{ deviceKey, receivedAt, fieldKeys: [1], timestamps: [1], values: [1] }] });
    }
  });
  afterAll(() => domain.close());

  async function allPages(
    orderBy: DeviceOrder,
    descending: boolean,
    limit: number,
    search?: string,
  ): Promise<string[]> {
    const serials: string[] = [];
    for (let after: DevicePosition | null = null; ;) {
      const page: Awaited<ReturnType<typeof domain.deviceList.page>> = await domain.deviceList.page(domain.access, {
        orderBy,
        descending,
        limit,
        after,
        search,
      });
      serials.push(...page.items.map(({ device }) => device.serialNumber));
      if (!page.hasNextPage) return serials;
      after = page.items.at(-1)!.position;
    }
  }

  test('is the same as if it were read at once: every order, both ways, over many workspaces', async () => {
    const rare = devices.filter((device) => device.name.startsWith('rare'));
    // Numbers in a name by their size.
    const natural = (name: string): string => name.replaceAll(/\d+/g, (digits) => digits.padStart(5, '0'));
    const text = (device: { name: string; serialNumber: string }) =>
      Buffer.from(`${natural(device.name)}\n${device.serialNumber}`);
    const expected = {
      CREATED: rare,
      NAME: rare.toSorted((a, b) => Buffer.compare(text(a), text(b))),
      // Who was never heard comes first; ties go by the order of creation.
      LAST_HEARD: rare
        .map((device, at) => ({ ...device, heardAt: HEARD_AT.get(at) ?? -1 }))
        .toSorted((a, b) => a.heardAt - b.heardAt),
    };
    for (const [order, sorted] of Object.entries(expected)) {
      const serials = sorted.map(({ serialNumber }) => serialNumber);
      expect(await allPages(order as DeviceOrder, false, 10, 'RARE')).toEqual(serials);
      expect(await allPages(order as DeviceOrder, true, 10, 'RARE')).toEqual(serials.toReversed());
    }
    const all = devices.map(({ serialNumber }) => serialNumber);
    expect(await allPages('CREATED', false, 5_000)).toEqual(all);
    expect(await allPages('CREATED', true, 5_000)).toEqual(all.toReversed());
  });

  test('counts each device once, and names every product once', async () => {
    const { deviceList, access } = domain;
    expect(await deviceList.count(access, {})).toBe(devices.length);
    expect(await deviceList.count(access, { search: 'rare' })).toBe(Math.ceil(devices.length / EVERY));
    expect(await deviceList.count(access, { productId: productIds[1]! })).toBe(DEVICES / 2);
    expect(await deviceList.productIds(access, {})).toEqual(productIds);
  });

  test('reads nothing more when nobody waits for it any more', async () => {
    const reading = vi.spyOn(domain.database, 'read');
    const { deviceList, access } = domain;
    const gone = new Error('gone');
    const goneBefore = (slice: number) => (): void => {
      if (slice-- > 0) return;
      reading.mockClear();
      throw gone;
    };
    const page = { limit: 5_000, descending: false, search: 'usual', after: null };
    try {
      // On PostgreSQL there is one.
      for (const slice of name === 'sqlite' ? [0, 2] : [0])
        for (const work of [
          () => deviceList.page(access, { ...page, orderBy: 'CREATED' }, { check: goneBefore(slice) }),
          () => deviceList.page(access, { ...page, orderBy: 'NAME' }, { check: goneBefore(slice) }),
          () => deviceList.count(access, {}, { check: goneBefore(slice) }),
        ]) {
          await expect(work()).rejects.toBe(gone);
          expect(reading).not.toHaveBeenCalled();
        }
    } finally {
      reading.mockRestore();
    }
  });

  test('a file of them is not held against what its token asks meanwhile, for whom it would wait then', async () => {
    const spent = new Map<string, number>();
    const spend = vi.spyOn(domain.shares, 'spend').mockImplementation(({ tokenId }, ms) => {
      spent.set(tokenId, (spent.get(tokenId) ?? 0) + ms);
    });
    let ms = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (ms += name === 'sqlite' ? 0.3 : 3));
    const { access, exporter } = domain;
    const choice = { productId: null, workspaceId: null, tags: [], search: 'rare', online: null, ids: null };
    const all = { layout: 'long', fields: null, from: 0, to: 1e15, chart: null, spreadsheet: false } as const;
    try {
      const { bytes } = await exporter.ofMany(access, choice, { ...all, format: 'csv' });
      // Which products they are of is told before there is a file.
      spent.clear();
      for await (const piece of bytes) expect(piece.length).toBeGreaterThan(0);
      expect([...spent.keys()]).toEqual([`background of ${access.tokenId}`]);
      await domain.deviceList.count(access, { search: 'rare' });
      expect(spent.get(access.tokenId)).toBeGreaterThan(0);
    } finally {
      spend.mockRestore();
      clock.mockRestore();
    }
  });

  if (name === 'postgres') {
    test.each([
      ['who use much', true, 2, 1],
      ['others', false, 6, 3],
    ])('the database goes through them for few at once of %s', async (_, usesMuch, atOnce, ofOneTenant) => {
      const scan = new DeviceScan(domain.database, { spend: () => {}, usesMuch: () => usesMuch });
      const now = 'extract(epoch from clock_timestamp())::float8';
      const text = `select ${now} as began, pg_sleep(1), ${now} as ended`;
      const asked = Array.from({ length: 6 }, async (_, at) => {
        const access = { tokenId: `${at}`, tenant: `${at % 2}` } as typeof domain.access;
        const [row] = await scan.rows<{ began: number; ended: number }>(access, { text, values: [] });
        return { ...row!, tenant: access.tenant };
      });
      const times = await Promise.all(asked);
      const beside = times.map(({ began }) => times.filter((one) => one.began <= began && began < one.ended));
      expect(Math.max(...beside.map(({ length }) => length))).toBe(atOnce);
      const ofFirst = beside.map((ones) => ones.filter(({ tenant }) => tenant === '0').length);
      expect(Math.max(...ofFirst)).toBe(ofOneTenant);
    });
    return;
  }

  test('goes through a few thousand devices at a time, however many workspaces have them', async () => {
    const counts: number[] = [];
    const scan = new DeviceScan(domain.database, { spend: () => {}, usesMuch: () => false });
    const ids = domain.access.workspaceIdsWith('READ');
    const parts = ids.map((id) => ({ sql: ['d.workspace_id = ?'], values: [id] }));
    const scope: Scope = { whole: { sql: [], values: [] }, parts };
    expect(parts.length).toBeGreaterThan(SMALL);
    for (const descending of [false, true])
      for await (const [row] of scan.slices<{ count: number }>(domain.access, scope, { descending }, (slice) => ({
        text: `select count(*) as count from device d where ${slice.sql.join(' and ')}`,
        values: slice.values,
      })))
        counts.push(row!.count);
    expect(Math.max(...counts)).toBeLessThanOrEqual(4_000);
    expect(counts.reduce((sum, count) => sum + count)).toBe(2 * devices.length);
  });

  test('names each workspace once, not all of them with each', async () => {
    const { access, database, deviceList } = domain;
    const workspaces = access.workspaceIdsWith('READ').length;
    const read = database.read.bind(database);
    let values = 0;
    const reading = vi.spyOn(database, 'read').mockImplementation(() => {
      const unit = read();
      const execute = unit.execute.bind(unit);
      unit.execute = ((sql: string, given: unknown[] = []) => {
        values += given.length;
        return execute(sql, given);
      }) as typeof unit.execute;
      return unit;
    });
    try {
      expect(await deviceList.count(access, {})).toBe(devices.length);
      // Each slice named all of them.
      expect(values).toBeLessThan(10 * workspaces);
    } finally {
      reading.mockRestore();
    }
  });

  test('the more is looked for in each, the fewer at a time: fifty tags in 4,000 long ones took 1.3 s', async () => {
    const { deviceList, access, database } = domain;
    const tags = Array.from({ length: 50 }, (_, at) => `tag ${at}`);
    const reading = vi.spyOn(database, 'read');
    const readsOf = async (work: () => Promise<unknown>): Promise<number> => {
      reading.mockClear();
      await work();
      return reading.mock.calls.length;
    };
    const of = { orderBy: 'CREATED', descending: false, after: null } as const;
    const { items } = await deviceList.page(access, { ...of, limit: 1_000 });
    const ids = items.map(({ device }) => device.id);
    try {
      const most = 4_000 / tags.length;
      expect(await readsOf(() => deviceList.count(access, { anyTags: tags }))).toBeGreaterThan(devices.length / most);
      const some = () => deviceList.page(access, { ...of, limit: 1_000, ids, anyTags: tags });
      expect(await readsOf(some)).toBeGreaterThan(ids.length / most);
      expect((await deviceList.page(access, { ...of, limit: 1_000, ids, tags: [] })).items).toEqual(items);
    } finally {
      reading.mockRestore();
    }
  });

  test('of a crowd few are gone through at once, though each has used little', async () => {
    const { deviceList, access, database } = domain;
    const read = database.read.bind(database);
    let most = 0;
    const reading = vi.spyOn(database, 'read').mockImplementation(() => {
      most = Math.max(most, database.time.running);
      return read();
    });
    // Nobody uses much.
    const spending = vi.spyOn(domain.shares, 'spend').mockImplementation(() => {});
    try {
      const counts = await Promise.all(
        Array.from({ length: 20 }, (_, at) => deviceList.count(access, { search: `nobody ${at}` })),
      );
      expect(counts).toEqual(counts.map(() => 0));
      expect(most).toBe(name === 'sqlite' ? 1 : 5);
      expect(database.time.running).toBe(0);
    } finally {
      reading.mockRestore();
      spending.mockRestore();
    }
  });

  test('leaves others their turns on the event loop', async () => {
    const loop = countTurns();
    const turns = new Set<number>();
    const read = domain.database.read.bind(domain.database);
    const reading = vi.spyOn(domain.database, 'read').mockImplementation(() => {
      turns.add(loop.turns);
      return read();
    });
    // However fast the machine is, a slice takes as long as one of a slow one.
    let ms = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (ms += 0.3));
    const { deviceList, access } = domain;
    const page = { limit: 50, descending: false };
    const works = [
      () => deviceList.count(access, { search: 'nobody' }),
      () => deviceList.productIds(access, { online: false }),
      () => deviceList.page(access, { ...page, orderBy: 'CREATED', search: 'nobody' }),
      () => deviceList.page(access, { ...page, orderBy: 'NAME', tags: ['none'] }),
    ];
    try {
      for (const work of works) {
        turns.clear();
        await work();
        expect(turns.size).toBeGreaterThan(1);
      }
    } finally {
      loop.stop();
      reading.mockRestore();
      clock.mockRestore();
    }
  });
});
