import { AsyncLocalStorage } from 'node:async_hooks';
import { EntityManager } from '@mikro-orm/sql';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Access } from '../../src/domain/access/access.ts';
import { DeviceCache } from '../../src/domain/devices/device-cache.ts';
import type { StatusWatch } from '../../src/domain/device-status/status-watch.ts';
import { type Device, DeviceSchema } from '../../src/domain/entities/device.ts';
import type { ProductInfo } from '../../src/domain/ingest-cache/ingest-cache.ts';
import { ProductSchema } from '../../src/domain/entities/product.ts';
import { TokenSchema } from '../../src/domain/entities/token.ts';
import { hashSecret } from '../../src/domain/accounts/authenticator.ts';
import type { FairScheduler } from '../../src/scheduling/fair-scheduler.ts';
import { LiveStatus } from '../../src/graphql/live/live-status.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { pause } from '../../src/scheduling/pause.ts';
import { DATABASES, EITHER_DATABASE } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';

describe.each(DATABASES)('what is kept in memory, %s', (name) => {
  let domain: OpenDomain;
  /** For what memory takes, whichever database it is read from. */
  const onEither = EITHER_DATABASE.includes(name) ? test : () => {};
  beforeAll(async () => {
    domain = await openDomain(name);
  });
  afterAll(() => domain.close());

  async function device(serialNumber = crypto.randomUUID().slice(0, 8)) {
    const product = await domain.products.create(domain.access, { name: 'p' });
    const [row] = await domain.devices.create(domain.access, product.id, [{ name: 'old', serialNumber }], 'unlimited');
    return { product, id: row!.id, serialNumber };
  }

  /** As another node would change it: the row, then the word that it changed. */
  async function rename(productId: string, id: string, to: string): Promise<void> {
    await domain.database.write((em) => em.nativeUpdate(DeviceSchema, { id }, { name: to }));
    await domain.cluster.changed([{ kind: 'devices', productId, ids: [id] }]);
  }

  onEither('of tokens with very many limits a few hundred are', async () => {
    const { database, authenticator } = domain;
    const ids = Array.from({ length: 1_000 }, () => crypto.randomUUID());
    const [workspace] = domain.access.workspaceIds();
    const secrets = Array.from({ length: 500 }, (_, at) => `secret ${at}`);
    for (let at = 0; at < secrets.length; at += 20)
      await database.write(async (em) => {
        for (const secret of secrets.slice(at, at + 20)) {
          const limits = { productIds: ids, deviceIds: ids };
          const rest = { user: null, workspace: workspace!, createdAt: 1, signedIn: false, hash: hashSecret(secret) };
          const kind = 'INDIVIDUAL';
          em.create(TokenSchema, { id: crypto.randomUUID(), name: 't', kind, scopes: ['READ'], ...limits, ...rest });
        }
      });
    for (const secret of secrets) expect((await authenticator.authenticate(secret))?.deviceIds?.size).toBe(1_000);
    expect(authenticator.size).toBeLessThan(450);
    expect(authenticator.cached(secrets.at(-1)!)).not.toBeNull();
  });

  onEither('nor more of tokens whose users see very many workspaces', async () => {
    const own = await openDomain(name);
    const { database, authenticator, access } = own;
    const workspaces = Array.from({ length: 2_000 }, () => crypto.randomUUID());
    const secrets = Array.from({ length: 500 }, (_, at) => `user's secret ${at}`);
    const user = access.userId!;
    await database.write(async (em) => {
      const from = name === 'sqlite' ? 'json_each(?)' : 'json_array_elements_text(?::json) as rows (value)';
      const rows = (what: string): string => `select ${what} from ${from}`;
      const [ids, hashes] = [JSON.stringify(workspaces), JSON.stringify(secrets.map(hashSecret))];
      await em.execute(`insert into workspace (id, name, created_at) ${rows("value, 'w', 1")}`, [ids]);
      await em.execute(`insert into member (user_id, workspace_id, role) ${rows("?, value, 'VIEWER'")}`, [user, ids]);
      const columns = 'id, name, kind, user_id, scopes, hash, created_at, signed_in';
      const values = `substr(value, 1, 36), 't', 'PERSONAL', ?, '[]', value, 1, ${name === 'sqlite' ? '0' : 'false'}`;
      await em.execute(`insert into token (${columns}) ${rows(values)}`, [user, hashes]);
    });
    for (const secret of secrets) expect((await authenticator.authenticate(secret))?.workspaces).toBeGreaterThan(1_999);
    expect(authenticator.size).toBeLessThan(450);
    expect(authenticator.cached(secrets.at(-1)!)).not.toBeNull();
    await own.close();
  });

  /** Counts the reads of some work, and not those of what goes on by itself meanwhile. */
  function countReads() {
    const asking = new AsyncLocalStorage<true>();
    let reads = 0;
    const read = domain.database.read.bind(domain.database);
    const watched = vi.spyOn(domain.database, 'read').mockImplementation(() => {
      if (asking.getStore() === true) reads += 1;
      return read();
    });
    const readsOf = async <T>(work: () => Promise<T>): Promise<[number, T]> => {
      reads = 0;
      const result = await asking.run(true, work);
      return [reads, result];
    };
    return { readsOf, stop: () => watched.mockRestore() };
  }

  test('a device that changes while it is read is read again', async () => {
    const { product, id } = await device();
    domain.pause.afterRead = () => rename(product.id, id, 'new');
    expect((await domain.ingestCache.device(id))?.name).toBe('new');
    expect(domain.ingestCache.cachedDevice(id)?.name).toBe('new');
  });

  test('so are devices that are read together', async () => {
    const { product, id, serialNumber } = await device();
    const info = (await domain.ingestCache.product(product.id)) as ProductInfo;
    domain.pause.afterRead = () => rename(product.id, id, 'new');
    const found = await domain.ingestCache.devicesOfProduct(info, [serialNumber]);
    expect(found.get(serialNumber)?.name).toBe('new');
    expect(domain.ingestCache.cachedDevice(id)?.name ?? 'new').toBe('new');
  });

  test('devices that live values are about are read together, and one that is gone once', async () => {
    const [one, other] = [await device(), await device()];
    const database = domain.database;
    let reads = 0;
    const counting = {
      read: () => {
        reads += 1;
        return database.read();
      },
    } as unknown as typeof database;
    const cache = new DeviceCache(counting, domain.cluster);
    const keys = await database
      .read()
      .execute<{ key: number }[]>(`select "key" from device where id in (?, ?) order by "key"`, [one.id, other.id]);
    const [first, second] = keys.map(({ key }) => key) as [number, number];
    const gone = 2_000_000;
    const got = await Promise.all([first, second, gone].map((key) => cache.get(key)));
    expect(got.map((row) => row?.key ?? null)).toEqual([first, second, null]);
    expect([cache.cached(first)?.name, cache.cached(gone)]).toEqual(['old', null]);
    await cache.get(gone);
    expect(reads).toBe(1);
    await rename(one.product.id, one.id, 'new');
    expect((await cache.get(first))?.name).toBe('new');
    // All rows of all products at once: ten thousand one by one took 2 ms for each change of a product.
    const dropped = vi.spyOn(Map.prototype, 'delete');
    void domain.cluster.changed([{ kind: 'product', id: one.product.id }]);
    expect(dropped.mock.calls.flat()).not.toContain(first);
    dropped.mockRestore();
    expect(cache.cached(first)).toBeUndefined();
    await domain.devices.delete(domain.access, [other.id]);
    expect(await cache.get(second)).toBe(null);
    await cache.get(second);
    expect(reads).toBe(3);
  });

  test('and so are those whose status turned, in the same moment: none is waited for before the next is read', async () => {
    const product = await domain.products.create(domain.access, { name: 'p' });
    const many = Array.from({ length: 50 }, () => ({ name: 'd' }));
    const rows = await domain.devices.create(domain.access, product.id, many, 'unlimited');
    const { readsOf, stop } = countReads();
    const events = rows.map(({ key }) => ({ deviceKey: key, online: true, at: 1 }));
    const watch = { subscribe: async () => ({ take: async () => events }) } as unknown as StatusWatch;
    const shares = { turnsOf: () => ({}) } as unknown as FairScheduler;
    const devices = new DeviceCache(domain.database, domain.cluster);
    const status = await new LiveStatus(watch, domain.ingestCache, devices, shares).open(domain.access, {});
    const taken = await status.take(50);
    const [reads, told] = await readsOf(async () => Promise.all(taken.map(async ({ value }) => value())));
    stop();
    expect(told).toMatchObject(rows.map(({ id }) => ({ device: { id } })));
    expect(reads).toBe(0);
    await domain.devices.delete(domain.access, [rows[0]!.id]);
    expect(await taken[0]!.value()).toBe(null);
  });

  test('so is a product', async () => {
    const { product } = await device();
    domain.pause.afterRead = async () => {
      await domain.database.write((em) => em.nativeUpdate(ProductSchema, { id: product.id }, { name: 'new' }));
      await domain.cluster.changed([{ kind: 'product', id: product.id }]);
    };
    expect((await domain.ingestCache.product(product.id))?.name).toBe('new');
  });

  test('what changes whenever it is read is found all the same, and not kept', async () => {
    const { product, id, serialNumber } = await device();
    const info = (await domain.ingestCache.product(product.id)) as ProductInfo;
    let changes = 0;
    const change = async (): Promise<void> => {
      changes += 1;
      domain.pause.afterRead = change;
      await domain.cluster.changed([
        { kind: 'product', id: product.id },
        { kind: 'devices', productId: product.id, workspaceId: info.workspaceId, ids: [id] },
      ]);
    };
    const looks = [
      () => domain.ingestCache.product(product.id),
      () => domain.ingestCache.device(id),
      async () => (await domain.ingestCache.devicesOfProduct(info, [serialNumber])).get(serialNumber),
    ];
    for (const look of looks) {
      await domain.cluster.changed([{ kind: 'everything' }]);
      changes = 0;
      domain.pause.afterRead = change;
      const found = await Promise.race([look(), pause(10_000)]);
      domain.pause.afterRead = null;
      expect(found).toMatchObject({ name: expect.any(String) });
      expect(changes).toBeGreaterThan(2);
      expect(domain.ingestCache.cachedDevice(id)).toBeNull();
    }
  });

  test('whoever changes things all the time keeps nobody from reading others', async () => {
    const { product, id, serialNumber } = await device();
    const info = (await domain.ingestCache.product(product.id)) as ProductInfo;
    const { secret } = await domain.tokens.create(domain.access, { name: 't', kind: 'PERSONAL' });
    const state = { isOver: false };
    const others = (async () => {
      // Beyond some thousand changes during one look nothing that was found may be kept.
      for (let at = 0; !state.isOver && at < 300; at += 1) {
        const [productId, user] = [at % 2 === 0 ? product.id : crypto.randomUUID(), crypto.randomUUID()];
        await domain.cluster.changed([
          { kind: 'devices', productId, ids: [crypto.randomUUID()] },
          { kind: 'workspace', id: crypto.randomUUID() },
          { kind: 'token', id: crypto.randomUUID() },
          { kind: 'user', id: user },
        ]);
        await new Promise(setImmediate);
      }
    })();
    const read = [
      domain.authenticator.authenticate(secret),
      domain.ingestCache.devicesNamed([info.workspaceId], serialNumber),
      domain.ingestCache.devicesOfProduct(info, [serialNumber]),
      domain.ingestCache.device(id),
      domain.ingestCache.product(product.id),
    ];
    const found = await Promise.all(read).finally(() => (state.isOver = true));
    await others;
    expect(found[0]).not.toBeNull();
    expect(found[1]).toHaveLength(1);
    expect(found[3]).toMatchObject({ id });
    expect(domain.authenticator.cached(secret)).not.toBeNull();
    expect(domain.ingestCache.cachedDevice(id)).not.toBeNull();
  });

  test('who asks for a name after a change does not get what was read before', async () => {
    const { product, id } = await device();
    const { workspaceId } = (await domain.ingestCache.product(product.id)) as ProductInfo;
    const serialNumber = crypto.randomUUID().slice(0, 8);
    let late: Promise<unknown> = Promise.resolve();
    domain.pause.afterRead = async () => {
      await domain.database.write((em) => em.nativeUpdate(DeviceSchema, { id }, { serialNumber }));
      await domain.cluster.changed([{ kind: 'devices', productId: product.id, ids: [id] }]);
      late = domain.ingestCache.devicesNamed([workspaceId], serialNumber);
    };
    await domain.ingestCache.devicesNamed([workspaceId], serialNumber);
    expect(await late).toHaveLength(1);
  });

  test('a hundred that come at once for what was forgotten ask the database once', async () => {
    const { id, serialNumber } = await device();
    const { secret } = await domain.tokens.create(domain.access, { name: 't', kind: 'PERSONAL' });
    const access = (await domain.authenticator.authenticate(secret))!;
    const ways: (() => Promise<unknown>)[] = [
      () => domain.authenticator.authenticate(secret),
      () => domain.ingestCache.device(id),
      () => domain.ingestCache.devicesNamed(access.workspaceIds(), serialNumber),
    ];
    const { readsOf, stop } = countReads();
    const anewReadsOf = async <T>(work: () => Promise<T>): Promise<[number, T]> => {
      await domain.cluster.changed([{ kind: 'everything' }]);
      return readsOf(work);
    };
    try {
      for (const way of ways) {
        const [once] = await anewReadsOf(way);
        expect(once).toBeGreaterThan(0);
        const [together, found] = await anewReadsOf(() => Promise.all(Array.from({ length: 100 }, way)));
        expect(together).toBe(once);
        for (const one of found) expect(one).toEqual(found[0]);
      }
    } finally {
      stop();
    }
  });

  test('a name that no device has is one look-up for all workspaces, until one has it', async () => {
    const { product } = await device();
    const { workspaceId } = (await domain.ingestCache.product(product.id)) as ProductInfo;
    const workspaceIds = [workspaceId, ...Array.from({ length: 90 }, () => crypto.randomUUID())];
    const serialNumber = crypto.randomUUID().slice(0, 8);
    const find = () => domain.ingestCache.devicesNamed(workspaceIds, serialNumber);
    const reads = vi.spyOn(domain.database, 'read');
    try {
      expect(await find()).toEqual([]);
      expect(await find()).toEqual([]);
      expect(reads.mock.calls.length).toBe(1);
    } finally {
      reads.mockRestore();
    }
    await domain.devices.create(domain.access, product.id, [{ name: 'new', serialNumber }], 'unlimited');
    expect(await find()).toMatchObject([{ serialNumber }]);
  });

  test('names stay in memory while others change their devices, and go with changes of their own workspace', async () => {
    const own = await openDomain(name);
    const { products, devices, ingestCache, authenticator, cluster, database } = own;
    const product = await products.create(own.access, { name: 'p' });
    const serialNumber = 'serial';
    const [{ id }] = (await devices.create(own.access, product.id, [{ name: 'd', serialNumber }], 'unlimited')) as [
      Device,
    ];
    const workspaceId = product.workspace.id;
    const later = 'later';
    const find = async (serial: string) =>
      (await ingestCache.devicesNamed([workspaceId], serial)).map((found) => found.id);
    const known = async () => [await find(serialNumber), await find(later)];
    expect(await known()).toEqual([[id], []]);
    const other = await own.workspaces.create(own.access, 'other');
    const access = (await authenticator.authenticate(ADMIN_TOKEN))!;
    const readsAfter = async (change: () => Promise<unknown>): Promise<number> => {
      await change();
      const sent = vi.spyOn(EntityManager.prototype, 'execute');
      try {
        expect(await known()).toEqual([[id], []]);
        // Others read in the background.
        const isOfNames = (value: unknown): boolean => value === serialNumber || value === later;
        return sent.mock.calls.filter(([, values]) => [values].flat().some(isOfNames)).length;
      } finally {
        sent.mockRestore();
      }
    };
    // Of its product nothing is in memory.
    const theirs = await products.create(access, { name: 'p', workspaceId: other.id });
    const made = () => devices.create(access, theirs.id, [{ name: 'd', serialNumber: later }], 'unlimited');
    let row = (await made())[0]!;
    const changes = [
      () => devices.update(access, row.id, { name: 'n' }),
      () => devices.replace(access, row.id, serialNumber, null),
      () => devices.delete(access, [row.id]),
      async () => (row = (await made())[0]!),
      () => products.rotateWebhook(access, theirs.id),
      () => products.delete(access, theirs.id),
    ];
    for (const change of changes) expect(await readsAfter(change)).toBe(0);
    expect(ingestCache.sizes.names).toBeGreaterThan(0);

    const sibling = await products.create(access, { name: 'sibling', workspaceId });
    const [second] = await devices.create(access, sibling.id, [{ name: 'd', serialNumber: later }], 'unlimited');
    expect(await known()).toEqual([[id], [second!.id]]);
    await devices.replace(access, id, `${later}-gone`, null);
    expect(await known()).toEqual([[], [second!.id]]);
    await products.delete(access, sibling.id);
    expect(await known()).toEqual([[], []]);
    // As of a node of an earlier version, of a product that is not in memory.
    await cluster.changed([{ kind: 'workspace', id: workspaceId }]);
    await database.write((em) => em.nativeUpdate(DeviceSchema, { id }, { serialNumber: later }));
    await cluster.changed([{ kind: 'devices', productId: product.id, ids: [id] }]);
    expect(await known()).toEqual([[], [id]]);
    await own.close();
  });

  test('as many devices as a list has, asked for one by one at once, are one look-up', async () => {
    const product = await domain.products.create(domain.access, { name: 'p' });
    const given = Array.from({ length: 600 }, (_, i) => ({ name: `d${i}`, serialNumber: `many-${i}` }));
    const rows = await domain.devices.create(domain.access, product.id, given, 'unlimited');
    await domain.cluster.changed([{ kind: 'everything' }]);
    await domain.ingestCache.product(product.id);
    const { readsOf, stop } = countReads();
    try {
      const [reads, found] = await readsOf(() =>
        Promise.all([...rows, { id: crypto.randomUUID() }].map(({ id }) => domain.ingestCache.device(id))),
      );
      expect(found.map((info) => info?.name)).toEqual([...given.map((device) => device.name), undefined]);
      // 500 at a time.
      expect(reads).toBe(2);
    } finally {
      stop();
    }
  });

  test('a device that comes to be while it is looked for is found by the next who asks', async () => {
    const { product } = await device();
    const info = (await domain.ingestCache.product(product.id)) as ProductInfo;
    const serialNumber = crypto.randomUUID().slice(0, 8);
    const find = () => domain.ingestCache.devicesNamed([info.workspaceId], serialNumber);
    const second: { found: Promise<unknown[]> | null } = { found: null };
    domain.pause.afterRead = async () => {
      await domain.devices.create(domain.access, product.id, [{ name: 'late', serialNumber }], 'unlimited');
      second.found = find();
    };
    await find();
    expect(await second.found).toHaveLength(1);
  });

  test('a token that is revoked while it is read is refused', async () => {
    const { token, secret } = await domain.tokens.create(domain.access, { name: 't', kind: 'PERSONAL' });
    domain.pause.afterRead = async () => {
      await domain.tokens.revoke(domain.access, token.id);
    };
    expect(await domain.authenticator.authenticate(secret)).toBeNull();
    expect(domain.authenticator.cached(secret)).toBeNull();
  });

  test('work that follows its token is told of each change, and of its end', async () => {
    const { tokens, authenticator, access, clock } = domain;
    const expiresAt = clock.now + 3_600_000;
    const make = async () => tokens.create(access, { name: 't', kind: 'PERSONAL', expiresAt });
    const follow = async ({ secret }: { secret: string }) =>
      authenticator.follow((await authenticator.authenticate(secret)) as Access);
    const [revoked, ended, late] = [await make(), await make(), await make()];
    // Revoked between the request and its work.
    const asked = (await authenticator.authenticate(late.secret)) as Access;
    await tokens.revoke(access, late.token.id);
    await expect(authenticator.follow(asked)()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    const [nowOfRevoked, nowOfEnded] = [await follow(revoked), await follow(ended)];
    expect((await nowOfRevoked()).tokenId).toBe(revoked.token.id);
    await tokens.update(access, revoked.token.id, { expiresAt: expiresAt + 1_000 });
    expect((await nowOfRevoked()).expiresAt).toBe(expiresAt + 1_000);
    await tokens.revoke(access, revoked.token.id);
    await expect(nowOfRevoked()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect((await nowOfEnded()).tokenId).toBe(ended.token.id);
    clock.now = expiresAt;
    await expect(nowOfEnded()).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  test('when something may have been missed, everything is forgotten: tokens, products, devices', async () => {
    const { token, secret } = await domain.tokens.create(domain.access, { name: 't', kind: 'PERSONAL' });
    const { product, id } = await device();
    expect(await domain.authenticator.authenticate(secret)).not.toBeNull();
    expect(await domain.ingestCache.device(id)).not.toBeNull();
    await domain.database.write(async (em) => {
      await em.nativeDelete(TokenSchema, { id: token.id });
      await em.nativeDelete(DeviceSchema, { id });
      await em.nativeDelete(ProductSchema, { id: product.id });
    });
    // The commit of another node, of which this one was told nothing.
    expect(domain.authenticator.cached(secret)).not.toBeNull();
    await domain.cluster.changed([{ kind: 'everything' }]);
    expect(await domain.authenticator.authenticate(secret)).toBeNull();
    expect(await domain.ingestCache.device(id)).toBeNull();
    expect(await domain.ingestCache.product(product.id)).toBeNull();
  });

  test('an old webhook id is unknown also when it is remembered but its product was dropped before it changed', async () => {
    const { product } = await device();
    expect(await domain.ingestCache.productByWebhook(product.webhookId)).not.toBeNull();
    await domain.cluster.changed([{ kind: 'workspace', id: product.workspace.id }]);
    const rotated = await domain.products.rotateWebhook(domain.access, product.id);
    expect(await domain.ingestCache.productByWebhook(product.webhookId)).toBeNull();
    expect((await domain.ingestCache.productByWebhook(rotated.webhookId))?.id).toBe(product.id);
  });

  test('a device is found for its own product only, also when it is in memory', async () => {
    const mine = await device();
    const other = await device();
    expect(await domain.ingestCache.device(other.id)).not.toBeNull();
    const info = (await domain.ingestCache.product(mine.product.id)) as ProductInfo;
    const found = await domain.ingestCache.devicesOfProduct(info, [other.id, mine.id]);
    expect([...found.keys()]).toEqual([mine.id]);
  });

  test('a serial number that went to another device finds that one', async () => {
    const { product, id, serialNumber } = await device('first');
    const info = (await domain.ingestCache.product(product.id)) as ProductInfo;
    await domain.ingestCache.devicesOfProduct(info, [serialNumber]);
    await domain.devices.update(domain.access, id, { serialNumber: 'second' });
    const [heir] = await domain.devices.create(domain.access, product.id, [{ name: 'h', serialNumber }], 'unlimited');
    const current = (await domain.ingestCache.product(product.id)) as ProductInfo;
    // In memory again, under its new serial number.
    await domain.ingestCache.device(id);
    const found = await domain.ingestCache.devicesOfProduct(current, [serialNumber, 'second']);
    expect([found.get(serialNumber)?.id, found.get('second')?.id]).toEqual([heir!.id, id]);
  });

  test('the time of last use is written again once ten seconds have passed', async () => {
    const { token, secret } = await domain.tokens.create(domain.access, { name: 't', kind: 'PERSONAL' });
    const lastUsed = async (): Promise<number | null | undefined> => {
      await domain.authenticator.flush();
      return (await domain.database.read().findOneOrFail(TokenSchema, { id: token.id })).lastUsedAt;
    };
    const first = domain.clock.now;
    await domain.authenticator.authenticate(secret);
    expect(await lastUsed()).toBe(first);
    domain.clock.now += 5_000;
    await domain.authenticator.authenticate(secret);
    expect(await lastUsed()).toBe(first);
    domain.clock.now += 5_001;
    await domain.authenticator.authenticate(secret);
    expect(await lastUsed()).toBe(first + 10_001);
  });
});
