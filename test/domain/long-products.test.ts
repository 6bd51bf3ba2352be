import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DecoderEngine } from '../../src/domain/decoders/decoder-engine.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { openGraphql } from '../support/open-graphql.ts';
import { expectPieces, piecesOf } from '../support/pieces.ts';
import { EITHER_DATABASE } from '../support/server.ts';

const PRODUCTS = 100;
const WIDE = 50;

/** 250 KB of JSON, as the console could have it. */
const DASHBOARD = {
  widgets: Array.from({ length: 200 }, () => ({
    kind: 'line',
    fields: ['a'],
    place: { x: 0, y: 0, width: 1, height: 1 },
    options: { o: Array.from({ length: 580 }, (_, at) => at % 10) },
  })),
};

let looks = 0;
const engine = {
  statistics: () => ((looks += 1), { runs: 7, failures: {}, p50Ms: null, p99Ms: null }),
} as unknown as DecoderEngine;

describe.each(EITHER_DATABASE)('products that hold much, on %s', (name) => {
  let domain: OpenDomain;
  let ask: ReturnType<typeof openGraphql>['ask'];
  let answer: ReturnType<typeof openGraphql>['answer'];
  let first: string;

  beforeAll(async () => {
    domain = await openDomain(name, engine);
    ({ ask, answer } = openGraphql(domain));
    const { access, products } = domain;
    ({ id: first } = await products.create(access, { name: 'long 0', dashboard: DASHBOARD }));
    for (let at = 1; at < PRODUCTS; at += 1) await products.clone(access, first, `long ${at}`);
    await createFields();
  });

  afterAll(() => domain.close());

  /** Products with as many fields as one may have, and 200 configuration fields; one of them has 300 devices. */
  async function createFields(): Promise<void> {
    const { access, products, configurations, devices } = domain;
    const fields = Array.from({ length: 497 }, (_, at) => ({
      identifier: `f${at}`,
      type: 'FLOAT' as const,
      name: 'n'.repeat(190),
      description: 'd'.repeat(400),
    }));
    const { id } = await products.create(access, { name: 'wide 0', fields });
    for (let at = 0; at < 200; at += 1)
      await configurations.add(access, id, { identifier: `c${at}`, type: 'STRING', default: 'x'.repeat(2_000) });
    for (let at = 1; at < WIDE; at += 1) await products.clone(access, id, `wide ${at}`);
    const many = Array.from({ length: 300 }, (_, at) => ({ name: `device ${at}` }));
    await devices.create(access, id, many, 'unlimited');
  }

  test('how the decoder of each has been doing is looked up once for all names under which that is asked for', async () => {
    const names = ['a', 'b', 'c'].map((name) => `${name}: decoderStatistics { runs }`).join(' ');
    looks = 0;
    const { products } = await ask(`{ products(first: 50) { edges { node { ${names} } } } }`);
    expect(products.edges[49].node.c).toEqual({ runs: 7 });
    expect(looks).toBe(50);
  });

  test('a list of them reads no dashboard', async () => {
    const { access, products } = domain;
    const { items } = await products.list(access, { limit: 500, search: 'long' });
    expect(items).toHaveLength(PRODUCTS);
    expect(items.map(({ dashboard }) => dashboard)).toEqual(items.map(() => undefined));
    const list = '{ products(search: "LONG", first: 500) { totalCount edges { node { id name createdAt } } } }';
    expect((await ask(list)).products).toMatchObject({ totalCount: PRODUCTS, edges: { length: PRODUCTS } });
  });

  test('dashboards are read and written one by one', async () => {
    const some = '{ products(first: 20, search: "long") { edges { node { name dashboard } } } }';
    const { products } = await ask(some);
    expect(products.edges.findIndex(({ node }: any) => !isDeepStrictEqual(node.dashboard, DASHBOARD))).toBe(-1);
    await expectPieces(2, () => piecesOf(() => answer(some)));
  });

  test('more of them than an answer may have are not read to their end', async () => {
    const all = () => ask('{ products(first: 500) { edges { node { dashboard } } } }');
    await expectPieces(4, () => piecesOf(() => expect(all()).rejects.toMatchObject({ code: 'QUERY_TOO_COMPLEX' })));
  });

  test('short ones are read together, and each product has its own', async () => {
    const { access, products } = domain;
    const own = new Map<string, unknown>();
    for (let at = 0; at < 30; at += 1) {
      const dashboard = { widgets: [{ ...DASHBOARD.widgets[0]!, title: `${at}`, options: {} }] };
      own.set((await products.create(access, { name: `short ${at}`, dashboard })).id, dashboard);
    }
    const shown = await ask('{ products(search: "short", first: 500) { edges { node { id dashboard } } } }');
    const read = shown.products.edges.map(({ node }: any) => [node.id, node.dashboard]);
    expect(new Map(read)).toEqual(own);
  });

  test.each([
    ['products(search: "wide", first: 500)', 'fields { id }', 497, 7],
    ['products(search: "wide", first: 500)', 'configurationFields { id }', 200, 3],
    ['products(search: "wide", first: 20)', 'fields { id identifier type name unit role }', 497, 2],
    ['devices(first: 190)', 'product { fields { id } }', 497, 3],
    ['devices(first: 99)', 'configuration { overridden field { identifier type name } }', 200, 2],
  ])('%s { %s } leaves others their turns', async (list, of, count, pieces) => {
    const query = `{ ${list} { edges { node { ${of} } } } }`;
    const data = await ask(query);
    for (const { node } of data[list.split('(')[0]!].edges) {
      const parts = node.product?.fields ?? node.fields ?? node.configurationFields ?? node.configuration;
      expect(parts).toHaveLength(count);
    }
    await expectPieces(pieces, () => piecesOf(() => answer(query)));
  });

  test('each product has its own fields and configuration, in their order, whole', async () => {
    const { access, products, configurations } = domain;
    const own = new Map<string, unknown>();
    for (let at = 0; at < 12; at += 1) {
      const fields = Array.from({ length: at * 15 }, (_, number) => ({
        identifier: `p${at}_${number}`,
        type: 'INTEGER' as const,
      }));
      const { id } = await products.create(access, { name: `own ${at}`, fields });
      const values = [at, null, -0.5, 1e300].slice(0, at % 5);
      for (const [index, value] of values.entries())
        await configurations.add(access, id, { identifier: `c${index}`, type: 'NUMBER', name: 'n', default: value });
      own.set(id, {
        fields: fields.map((field) => ({ ...field, name: null, unit: null, description: null, role: null })),
        configurationFields: values.map((value, index) => ({
          identifier: `c${index}`,
          type: 'NUMBER',
          name: 'n',
          description: null,
          default: value,
        })),
      });
    }
    const field = 'identifier type name unit description role';
    const { products: shown } = await ask(
      `{ products(search: "own", first: 500) { edges { node { id fields { ${field} } configurationFields { identifier type name description default } } } } }`,
    );
    const read = shown.edges.map(({ node: { id, ...parts } }: any) => [id, parts]);
    expect(new Map(read)).toEqual(own);
  });

  test('a change of something else leaves the dashboard, and it is shown beside it', async () => {
    const change =
      'mutation ($id: ID!, $input: UpdateProductInput!) { updateProduct(id: $id, input: $input) { name dashboard } }';
    const { updateProduct } = await ask(change, { id: first, input: { name: 'renamed' } });
    expect(updateProduct).toEqual({ name: 'renamed', dashboard: DASHBOARD });
    const widgets = DASHBOARD.widgets.slice(0, 1);
    await ask(change, { id: first, input: { dashboard: { widgets } } });
    await ask('mutation ($id: ID!) { rotateWebhook(productId: $id) { id } }', { id: first });
    const { product } = await ask('query ($id: ID!) { product(id: $id) { name dashboard } }', { id: first });
    expect(product).toEqual({ name: 'renamed', dashboard: { widgets } });
  });
});
