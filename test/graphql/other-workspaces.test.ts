import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DATABASES, createProduct, startServer, type TestServer } from '../support/server.ts';
import { createWorkspace } from '../support/tenant.ts';

const OTHERS = `query ($w: ID!, $search: String) {
  devices(exceptWorkspaceId: $w, search: $search, first: 2) { totalCount edges { node { serialNumber } } }
  products(exceptWorkspaceId: $w, search: $search, first: 2) { totalCount edges { node { name } } }
}`;

describe.each(DATABASES)('what is in other workspaces, on %s', (kind) => {
  let server: TestServer;
  const workspaces: string[] = [];
  beforeAll(async () => {
    server = await startServer({ database: kind });
    for (const name of ['one', 'two', 'three']) {
      const workspaceId = await createWorkspace(server, name);
      workspaces.push(workspaceId);
      await createProduct(server, { workspaceId, serialNumbers: [`pump ${name}`], input: { name: `Hall ${name}` } });
    }
  });
  afterAll(() => server.stop());

  test('is listed and counted without the one that is left out', async () => {
    const { devices, products } = await server.gql(OTHERS, { w: workspaces[0]!.toUpperCase(), search: null });
    expect([devices.totalCount, products.totalCount]).toEqual([2, 2]);
    expect(devices.edges.map(({ node }: any) => node.serialNumber)).toEqual(['pump two', 'pump three']);
    expect(products.edges.map(({ node }: any) => node.name)).toEqual(['Hall two', 'Hall three']);
    const searched = await server.gql(OTHERS, { w: workspaces[0], search: 'one' });
    expect([searched['devices'].totalCount, searched['products'].totalCount]).toEqual([0, 0]);
  });

  test('is nothing for a token that sees that one alone, and narrows no right', async () => {
    const made = await server.gql(
      `mutation ($w: ID!) {
        createToken(input: { name: "one", kind: INDIVIDUAL, workspaceId: $w, scopes: [READ] }) { secret }
      }`,
      { w: workspaces[0] },
    );
    const { secret } = made['createToken'];
    const nothing = await server.gql(OTHERS, { w: workspaces[0] }, secret);
    expect([nothing['devices'], nothing['products']]).toEqual([
      { totalCount: 0, edges: [] },
      { totalCount: 0, edges: [] },
    ]);
    const own = await server.gql(OTHERS, { w: workspaces[1] }, secret);
    expect(own['devices'].edges).toEqual([{ node: { serialNumber: 'pump one' } }]);
  });
});
