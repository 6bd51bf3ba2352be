import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, DATABASES, startServer, type TestProduct, type TestServer } from '../support/server.ts';

describe.each(DATABASES)('the write limit on %s (CONTRACT 3)', (database) => {
  let server: TestServer;
  let product: TestProduct;

  beforeAll(async () => {
    server = await startServer({ database, env: { WRITE_RATE_PER_FIELD: '1' } });
    product = await createProduct(server, {
      fields: { a: 'FLOAT', b: 'FLOAT' },
      serialNumbers: Array.from({ length: 8 }, (_, at) => `limit-${at}`),
    });
  });
  afterAll(() => server.stop());

  const setRate = (variables: Record<string, unknown>): Promise<unknown> =>
    server.gql(
      `mutation ($productId: ID, $deviceId: ID, $workspaceId: ID, $perSecond: Float, $reset: Boolean) {
         setWriteRate(productId: $productId, deviceId: $deviceId, workspaceId: $workspaceId, perSecond: $perSecond, reset: $reset) }`,
      variables,
    );

  test('a second write within a second answers 429 with Retry-After, for backfilled history too', async () => {
    const device = product.deviceIds[0]!;
    expect((await server.record(device, { field: 'a', value: 1, timestamp: 1 })).status).toBe(200);
    const refused = await server.record(device, { field: 'a', value: 2, timestamp: 5000 });
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'RATE_LIMITED', stored: 0, rejected: [{ index: 0, field: 'a', code: 'RATE_LIMITED' }] },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await server.record(device, { field: 'b', value: 1 })).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 1050));
    expect((await server.record(device, { field: 'a', value: 3 })).status).toBe(200);
  });

  test('within one request the first entry of a field is stored and the others refused', async () => {
    const answer = await server.record(product.deviceIds[1]!, [
      { field: 'a', value: 1, timestamp: 1 },
      { field: 'zzz', value: 1 },
      { field: 'a', value: 2, timestamp: 2 },
      { field: 'b', value: 2, timestamp: 2 },
    ]);
    expect(answer.status).toBe(207);
    expect(answer.body.stored).toBe(2);
    expect(answer.body.rejected.map(({ index, code }: any) => [index, code])).toEqual([
      [1, 'UNKNOWN_FIELD'],
      [2, 'RATE_LIMITED'],
    ]);
  });

  test('refused entries use nothing up, and a mix of refusals without a stored entry answers 400', async () => {
    const device = product.deviceIds[2]!;
    expect((await server.record(device, { field: 'a', value: 'bad' })).status).toBe(400);
    expect((await server.record(device, { field: 'a', value: 1 })).status).toBe(200);
    const mixed = await server.record(device, [
      { field: 'a', value: 1 },
      { field: 'a', value: 'bad' },
    ]);
    expect(mixed.status).toBe(400);
  });

  test('the nearest setting wins: device, product, workspace, default; reset goes back', async () => {
    const device = product.deviceIds[3]!;
    const burst = async (): Promise<number[]> => [
      (await server.record(device, { field: 'a', value: 1 })).status,
      (await server.record(device, { field: 'a', value: 1 })).status,
    ];
    await setRate({ deviceId: device, perSecond: null });
    expect(await burst()).toEqual([200, 200]);
    await setRate({ productId: product.id, perSecond: 0.001 });
    expect(await burst()).toEqual([200, 200]);
    await setRate({ deviceId: device, reset: true });
    // Writes without a limit are not remembered: the first one under a limit passes.
    expect(await burst()).toEqual([200, 429]);
    await setRate({ productId: product.id, reset: true });
    const { workspaces } = await server.gql('{ workspaces { id } }');
    await setRate({ workspaceId: workspaces[0].id, perSecond: null });
    expect(await burst()).toEqual([200, 200]);
    await setRate({ workspaceId: workspaces[0].id, reset: true });
    expect(await burst()).toEqual([429, 429]);
  });

  test('recordMeasurements knows no limit', async () => {
    const record = (): Promise<Record<string, any>> =>
      server.gql(
        `mutation ($id: ID!) { recordMeasurements(deviceId: $id, entries: [{ field: "a", value: 1 }, { field: "a", value: 2 }]) {
           stored rejected { index code } } }`,
        { id: product.deviceIds[4] },
      );
    expect(await record()).toEqual({ recordMeasurements: { stored: 2, rejected: [] } });
    expect(await record()).toEqual({ recordMeasurements: { stored: 2, rejected: [] } });
  });
});
