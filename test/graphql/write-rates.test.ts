import { afterAll, beforeAll, expect, describe, test } from 'vitest';
import { EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';
import { createWorkspace } from '../support/tenant.ts';

const SET = `mutation ($w: ID, $p: ID, $d: ID, $rate: Float) {
  setWriteRate(workspaceId: $w, productId: $p, deviceId: $d, perSecond: $rate)
}`;
const RESET = 'mutation ($p: ID, $d: ID) { setWriteRate(productId: $p, deviceId: $d, reset: true) }';

describe.each(EITHER_DATABASE)('write rates on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, env: { WRITE_RATE_PER_FIELD: '3' } });
  });
  afterAll(() => server?.stop());

  test('the nearest setting wins, and everybody is told where it was set', async () => {
    const w = await createWorkspace(server, 'rates');
    const { createProduct: made } = await server.gql(
      'mutation ($w: ID!) { createProduct(input: { name: "x", workspaceId: $w }) { id } }',
      { w },
    );
    const p = made.id;
    const { createDevices } = await server.gql(
      'mutation ($p: ID!) { createDevices(productId: $p, devices: [{ name: "x" }]) { id } }',
      { p },
    );
    const d = createDevices[0].id;
    const rates = async () => {
      const { device, product, workspace } = await server.gql(
        `query ($w: ID!, $p: ID!, $d: ID!) {
           device(id: $d) { writeRate { perSecond source } }
           product(id: $p) { writeRate { perSecond source } }
           workspace(id: $w) { writeRate { perSecond source } }
         }`,
        { w, p, d },
      );
      return [device, product, workspace].map(({ writeRate }) => [writeRate.perSecond, writeRate.source]);
    };
    const server3 = [3, 'SERVER'];
    expect(await rates()).toEqual([server3, server3, server3]);
    await server.gql(SET, { w, rate: 2 });
    expect(await rates()).toEqual([
      [2, 'WORKSPACE'],
      [2, 'WORKSPACE'],
      [2, 'WORKSPACE'],
    ]);
    await server.gql(SET, { p, rate: 0 });
    expect(await rates()).toEqual([
      [null, 'PRODUCT'],
      [null, 'PRODUCT'],
      [2, 'WORKSPACE'],
    ]);
    await server.gql(SET, { d, rate: 0.5 });
    expect(await rates()).toEqual([
      [0.5, 'DEVICE'],
      [null, 'PRODUCT'],
      [2, 'WORKSPACE'],
    ]);
    await server.gql(SET, { d, rate: null });
    expect((await rates())[0]).toEqual([null, 'DEVICE']);
    await server.gql(RESET, { d });
    await server.gql(RESET, { p });
    expect(await rates()).toEqual([
      [2, 'WORKSPACE'],
      [2, 'WORKSPACE'],
      [2, 'WORKSPACE'],
    ]);
  });
});
