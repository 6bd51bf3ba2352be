import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { openGraphql } from '../support/open-graphql.ts';
import { longestPieceMs } from '../support/processor-time.ts';
import { DATABASES } from '../support/server.ts';

/** A tenth of a second is what people notice; half of it is for what else goes on. */
const MOST_MS = 50;
const PRODUCTS = 120;

/** 250 KB of JSON, as the console could have it. */
const DASHBOARD = {
  widgets: Array.from({ length: 200 }, () => ({
    kind: 'line',
    fields: ['a'],
    place: { x: 0, y: 0, width: 1, height: 1 },
    options: { o: Array.from({ length: 580 }, (_, at) => at % 10) },
  })),
};

describe.each(DATABASES)('products that hold much, on %s', (name) => {
  let domain: OpenDomain;
  let ask: ReturnType<typeof openGraphql>['ask'];
  let answer: ReturnType<typeof openGraphql>['answer'];
  let first: string;

  beforeAll(async () => {
    domain = await openDomain(name);
    ({ ask, answer } = openGraphql(domain));
    const { access, products } = domain;
    ({ id: first } = await products.create(access, { name: 'long 0', dashboard: DASHBOARD }));
    for (let at = 1; at < PRODUCTS; at += 1) await products.clone(access, first, `long ${at}`);
  }, 120_000);

  afterAll(() => domain.close());

  test('a list of them reads no dashboard', async () => {
    const { access, products } = domain;
    const { items } = await products.list(access, { limit: 500 });
    expect(items).toHaveLength(PRODUCTS);
    expect(items.map(({ dashboard }) => dashboard)).toEqual(items.map(() => undefined));
    const list = '{ products(search: "LONG", first: 500) { totalCount edges { node { id name createdAt } } } }';
    expect((await ask(list)).products).toMatchObject({ totalCount: PRODUCTS, edges: { length: PRODUCTS } });
    expect(await longestPieceMs(() => answer(list))).toBeLessThan(MOST_MS);
  });

  test('dashboards are read and written one by one', async () => {
    const some = '{ products(first: 20) { edges { node { name dashboard } } } }';
    const { products } = await ask(some);
    for (const { node } of products.edges) expect(node.dashboard).toEqual(DASHBOARD);
    expect(await longestPieceMs(() => answer(some))).toBeLessThan(MOST_MS);
  });

  test('more of them than an answer may have are not read to their end', async () => {
    const all = () => ask('{ products(first: 500) { edges { node { dashboard } } } }');
    expect(await longestPieceMs(() => expect(all()).rejects.toMatchObject({ code: 'QUERY_TOO_COMPLEX' }))).toBeLessThan(
      MOST_MS,
    );
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
