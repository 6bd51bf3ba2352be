import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type OpenDomain, openDomain } from '../support/open-domain.ts';
import { createDatabase, DATABASES, startServer } from '../support/server.ts';
import { ConfigurationClient, NOTHING } from './configuration-client.ts';

interface Statements {
  execute: (...args: unknown[]) => Promise<unknown>;
}

const BEFORE = {
  products: [
    { key: 'kept', name: 'Kept', fields: [{ identifier: 'A', type: 'FLOAT' }] },
    { key: 'gone', name: 'Gone' },
  ],
  tokens: [{ name: 'gone', scopes: ['READ'], products: ['gone'] }],
};
const AFTER = {
  products: [
    {
      key: 'kept',
      name: 'Another',
      offlineAfterSeconds: 5,
      answer200: true,
      fields: [{ identifier: 'B', type: 'FLOAT' }],
    },
    { key: 'new', name: 'New', configurationFields: [{ identifier: 'C', type: 'NUMBER', default: 1 }] },
  ],
  tokens: [{ name: 'new', scopes: ['READ'], products: ['new'] }],
};

/** Tells its statements from those that the domain sends by itself meanwhile. */
const applying = new AsyncLocalStorage<true>();

describe.each(DATABASES)('an apply on %s', (database) => {
  let domain: OpenDomain;
  let failsAt = Infinity;
  let count = 0;
  beforeAll(async () => {
    domain = await openDomain(database);
    const connection = domain.database.read().getConnection() as unknown as Statements;
    const execute = connection.execute.bind(connection);
    connection.execute = (...args) => {
      if (applying.getStore() === true) count += 1;
      return applying.getStore() === true && count === failsAt
        ? Promise.reject(new Error('the database is away'))
        : execute(...args);
    };
  });
  afterAll(() => domain?.close());

  test('does nothing when any of its statements fails', async () => {
    const { configurationExport, configurationPlans, configurationApply, access } = domain;
    const exported = (): Promise<string> => configurationExport.write(access, { format: 'JSON' });
    const plan = (document: object): ReturnType<typeof configurationPlans.plan> =>
      configurationPlans.plan(access, { document: JSON.stringify(document), prune: true });
    const first = await plan(BEFORE);
    await configurationApply.apply(access, { document: JSON.stringify(BEFORE), prune: true }, first.hash);
    const before = await exported();
    const { hash, blocked } = await plan(AFTER);
    expect(blocked).toEqual([]);
    let failures = 0;
    for (let at = 1; ; at += 1) {
      [count, failsAt] = [0, at];
      const failed = await applying
        .run(true, () => configurationApply.apply(access, { document: JSON.stringify(AFTER), prune: true }, hash))
        .then(() => false)
        .catch(() => true);
      failsAt = Infinity;
      if ((await exported()) !== before) break;
      // It failed, and the plan is as good as it was.
      expect(failed).toBe(true);
      failures += 1;
    }
    expect(failures).toBeGreaterThan(30);
    expect(await plan(AFTER)).toMatchObject(NOTHING);
  });
});

const KILLS = process.env['INLET_TESTS'] === 'nightly' ? 8 : 2;

test.each(DATABASES)('an apply that is killed at any moment leaves all or nothing, on %s', async (name) => {
  const database = await createDatabase(name);
  const document = {
    products: Array.from({ length: 60 }, (_, at) => ({
      key: `product-${at}`,
      name: `Product ${at}`,
      fields: Array.from({ length: 20 }, (__, field) => ({ identifier: `F${field}`, type: 'FLOAT' })),
    })),
  };
  const outcomes = new Set<string>();
  let longestMs = 0;
  let server = await startServer({ alone: true, database });
  for (let kill = 0; kill <= KILLS; kill += 1) {
    const { workspaces } = await server.gql('{ workspaces { id } }');
    const client = new ConfigurationClient(server, workspaces[0].id);
    const set = { set: `set ${kill}` };
    const own = { products: document.products.map((product) => ({ ...product, key: `${product.key}-${kill}` })) };
    const { hash } = await client.plan(own, set);
    const from = performance.now();
    const answered = client.tryToApply(own, hash, set).catch(() => null);
    if (kill === 0) {
      await answered;
      longestMs = performance.now() - from;
    } else {
      // At another part of its time with each kill.
      await new Promise((resolve) => setTimeout(resolve, (longestMs * kill) / (KILLS + 1)));
    }
    await server.process.stop('SIGKILL');
    await answered;
    server = await startServer({ alone: true, database });
    const after = new ConfigurationClient(server, client.workspaceId);
    const { pending, blocked } = await after.plan(own, set);
    expect(blocked).toEqual([]);
    expect([0, own.products.length]).toContain(pending.length);
    outcomes.add(pending.length === 0 ? 'all' : 'nothing');
  }
  await server.stop();
  expect(outcomes).toContain('all');
  await database.drop();
});
