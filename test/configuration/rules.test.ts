import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';
import { createWorkspace } from '../support/tenant.ts';
import { ConfigurationClient, NOTHING } from './configuration-client.ts';

const RULES =
  'query ($key: String, $id: ID) { product(key: $key, workspaceId: $id) { id rules { id key name enabled } } }';
const HOT = {
  key: 'hot',
  name: 'Too hot',
  levels: [{ severity: 'WARNING', all: [{ field: 'T', operator: 'GT', value: '30', clear: 28 }] }],
  forSeconds: 600,
};
const SILENT = { name: 'Silent', levels: [{ severity: 'INFO', any: [{ absentSeconds: 3600 }] }] };

type Rule = Record<string, unknown>;

/** A product with these rules. */
function freezer(rules: Rule[] | null, change: Rule = {}): { products: Rule[] } {
  const fields = [{ identifier: 'T', type: 'FLOAT' }, { identifier: 'DOOR', type: 'BOOLEAN' }]; // oxfmt-ignore
  return { products: [{ key: 'freezer', name: 'Freezer', fields, ...(rules === null ? {} : { rules }), ...change }] };
}

describe.each(EITHER_DATABASE)('rules in documents, on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database });
  });
  afterAll(() => server?.stop());

  async function workspace(): Promise<ConfigurationClient> {
    return new ConfigurationClient(server, await createWorkspace(server, 'rules'));
  }

  async function productOf(client: ConfigurationClient): Promise<{ id: string; rules: Rule[] }> {
    return (await server.gql(RULES, { key: 'freezer', id: client.workspaceId })).product;
  }

  test('come, change and go, and watch', async () => {
    const client = await workspace();
    await client.apply(freezer([HOT, SILENT, { ...SILENT, nth: 2, enabled: false }]));
    const { id, rules } = await productOf(client);
    expect(rules.map(({ key, name, enabled }) => [key, name, enabled])).toEqual([
      ['hot', 'Too hot', true],
      [null, 'Silent', true],
      [null, 'Silent', false],
    ]);
    const made = 'mutation ($p: ID!) { createDevices(productId: $p, devices: [{ name: "d" }]) { id } }';
    const device = (await server.gql(made, { p: id })).createDevices[0].id;
    const at = Math.floor(Date.now() / 1_000) - 1_000;
    await server.record(
      device,
      [31, 32].map((value, nth) => ({ field: 'T', value, timestamp: at + nth * 700 })),
    );
    const alerts = 'query ($p: ID) { alerts(productId: $p) { edges { node { state rule { key } } } } }';
    const states = async (): Promise<unknown> =>
      (await server.gql(alerts, { p: id })).alerts.edges.map(({ node }: { node: any }) => [node.rule.key, node.state]);
    await expect.poll(states, { interval: 20 }).toEqual([['hot', 'FIRING']]);

    const warmer = { ...HOT, levels: [{ severity: 'WARNING', all: [{ field: 'T', operator: 'GT', value: 40 }] }] };
    const { pending } = await client.plan(freezer([warmer]));
    expect(pending.map(({ action, path }) => [action, path])).toEqual([
      ['UPDATE', 'products[freezer].rules[hot].levels'],
    ]);
    await client.apply(freezer([warmer]));
    await expect.poll(states, { interval: 20 }).toEqual([['hot', 'RESOLVED']]);
    expect((await productOf(client)).rules).toHaveLength(3);
    await client.apply(freezer([warmer]), { prune: true });
    expect((await productOf(client)).rules.map(({ key }) => key)).toEqual(['hot']);
    expect(JSON.parse(await client.export('JSON')).products[0].rules).toEqual([warmer]);
  });

  test('mistakes are blocked with their path', async () => {
    const client = await workspace();
    const blocked = async (...document: Parameters<typeof freezer>): Promise<string[]> =>
      (await client.plan(freezer(...document))).blocked.map(({ path, message }) => `${path}: ${message}`);
    const on = (condition: Rule): Rule => ({ ...HOT, levels: [{ severity: 'INFO', all: [condition] }] });
    const at = 'products[freezer].rules[hot].levels[0].all[0]';
    expect(await blocked([on({ field: 'X', operator: 'GT', value: 1 })])).toEqual([
      `${at}.field: the product has no field "X" (identifiers are case-sensitive).`,
    ]);
    expect(await blocked([on({ field: 'T', operator: 'GT', value: 'warm' })])).toEqual([
      `${at}.value: expected a finite number, a numeric string or a boolean, not "warm".`,
    ]);
    expect(await blocked([on({ field: 'T', above: 1 })])).toEqual([
      expect.stringContaining(`${at}.above: unknown key`),
    ]);
    expect(await blocked([{ ...SILENT, nth: 2 }])).toEqual([
      expect.stringContaining('rules["\\"Silent\\"#2"].nth: rules that share a name are numbered from 1'),
    ]);
    await client.apply(freezer([HOT]));
    // A field that a rule watches neither goes nor becomes something else.
    const door = [{ identifier: 'DOOR', type: 'BOOLEAN' }];
    const text = [{ identifier: 'T', type: 'STRING' }, ...door];
    expect(await blocked(null, { fields: text })).toEqual([
      expect.stringContaining(`${at}.operator: GT is not for a text`),
    ]);
    const gone = await client.plan(freezer([HOT], { fields: door }), { prune: true, deleteData: true });
    expect(gone.blocked.map(({ path }) => path)).toEqual([`${at}.field`]);
    const other = {
      products: [{ key: 'other', name: 'Other', fields: [{ identifier: 'T', type: 'FLOAT' }], rules: [HOT] }],
    };
    expect((await client.plan(other)).blocked).toEqual([
      { path: 'products[other].rules[hot].key', message: 'the rule "Too hot" of another product has the key "hot".' },
    ]);
    // It moves with its key when both products are in the document.
    const moved = { products: [...freezer([]).products, ...other.products] };
    await client.apply(moved, { prune: true });
    expect((await productOf(client)).rules).toEqual([]);
    expect(await client.plan(moved, { prune: true })).toMatchObject(NOTHING);
  });

  test('a cloned product has them on its own fields', async () => {
    const client = await workspace();
    await client.apply(freezer([HOT, SILENT]));
    const { id } = await productOf(client);
    const clone = `mutation ($id: ID!) { cloneProduct(id: $id, name: "copy") {
      id rules { key name forSeconds levels { all { field value clear } any { absentSeconds } } } fields { id identifier } } }`;
    const { cloneProduct: copy } = await server.gql(clone, { id });
    expect(copy.rules).toMatchObject([
      { key: null, name: 'Too hot', forSeconds: 600, levels: [{ all: [{ field: 'T', value: 30, clear: 28 }] }] },
      { name: 'Silent', levels: [{ any: [{ absentSeconds: 3600 }] }] },
    ]);
    // Not on those of the first one.
    await server.gql('mutation ($id: ID!) { deleteProduct(id: $id) }', { id });
    const watched = copy.fields.find(({ identifier }: { identifier: string }) => identifier === 'T').id;
    const removed = await server.query('mutation ($id: ID!) { removeField(id: $id) }', { id: watched });
    expect(removed.errors![0]!.message).toContain('The rule "Too hot" watches the field "T"');
  });
});
