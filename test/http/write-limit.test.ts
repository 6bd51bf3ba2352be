import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestProduct, type TestServer } from '../support/server.ts';

/** In Unix seconds: 2026-01-01. */
const BEGIN = 1_767_225_600;
/** Seconds until the next write at 0.001 a second, some of them over by now. */
const isNearly1000 = (seconds: number): boolean => seconds > 800 && seconds <= 1_000;

describe.each(EITHER_DATABASE)('the write limit on %s (CONTRACT 3)', (database) => {
  let server: TestServer;
  let product: TestProduct;

  beforeAll(async () => {
    server = await startServer({ database, env: { WRITE_RATE_PER_FIELD: '0.001' } });
    product = await createProduct(server, {
      fields: { a: 'FLOAT', b: 'FLOAT', note: 'STRING' },
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
    expect((await server.record(device, { field: 'a', value: 1, timestamp: BEGIN })).status).toBe(200);
    const refused = await server.record(device, { field: 'a', value: 2, timestamp: BEGIN + 5000 });
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'RATE_LIMITED', stored: 0, rejected: [{ index: 0, field: 'a', code: 'RATE_LIMITED' }] },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await server.record(device, { field: 'b', value: 1 })).status).toBe(200);
    await setRate({ deviceId: device, perSecond: 1_000_000 });
    expect((await server.record(device, { field: 'a', value: 3 })).status).toBe(200);
  });

  test('a request is one write for each of its fields, however many moments it brings', async () => {
    const device = product.deviceIds[1]!;
    const buffer = [
      { field: 'a', value: 1, timestamp: BEGIN },
      { field: 'a', value: 2, timestamp: BEGIN + 1 },
      { field: 'a', value: 3, timestamp: BEGIN + 2 },
    ];
    expect(await server.record(device, buffer)).toMatchObject({ status: 200, body: { stored: 3, rejected: [] } });
    // What is stored already with the same value counts for nothing; b has not been written.
    const again = await server.record(device, [
      ...buffer,
      { field: 'a', value: 4, timestamp: BEGIN + 3 },
      { field: 'a', value: 9, timestamp: BEGIN + 1 },
      { field: 'b', value: 2, timestamp: BEGIN },
    ]);
    expect(again).toMatchObject({ status: 207, body: { stored: 3 } });
    expect(again.body.rejected.map(({ index, code }: any) => [index, code])).toEqual([
      [1, 'RATE_LIMITED'],
      [3, 'RATE_LIMITED'],
      [4, 'RATE_LIMITED'],
    ]);
    expect(Number(again.headers.get('retry-after'))).toSatisfy(isNearly1000);
    expect(await server.record(device, buffer)).toMatchObject({ status: 200, body: { stored: 3, rejected: [] } });
  });

  test('a retry of what is stored takes no turn from a new value, after a restart either', async () => {
    const device = product.deviceIds[5]!;
    const old = [
      { field: 'a', value: 1.5, timestamp: BEGIN },
      { field: 'a', value: 2.5, timestamp: BEGIN + 86_400 },
      { field: 'note', value: 'x', timestamp: BEGIN },
      { field: 'note', value: 'y', timestamp: BEGIN + 86_400 },
    ];
    await setRate({ deviceId: device, perSecond: null });
    const between = Array.from({ length: 3_000 }, (_, at) => ({
      field: 'a',
      value: at,
      timestamp: BEGIN + 1 + at,
    }));
    expect((await server.record(device, [...old, ...between])).body.stored).toBe(3_004);
    await setRate({ deviceId: device, perSecond: 0.001 });
    expect(await server.record(device, old)).toMatchObject({ status: 200, body: { stored: 4 } });
    expect(await server.record(device, { field: 'a', value: 7 })).toMatchObject({ status: 200 });
    expect(await server.record(device, { field: 'a', value: 8 })).toMatchObject({ status: 429 });
    expect(await server.record(device, old)).toMatchObject({ status: 200, body: { stored: 4 } });
    const changed = await server.record(device, { ...old[0], value: 1.6 });
    expect(changed).toMatchObject({ status: 429, body: { rejected: [{ code: 'RATE_LIMITED' }] } });
    expect(Number(changed.headers.get('retry-after'))).toSatisfy(isNearly1000);
  });

  test('what would be refused is told as that, not as replaced by what was not stored', async () => {
    const device = product.deviceIds[6]!;
    expect((await server.record(device, { field: 'a', value: 1 })).status).toBe(200);
    const twice = await server.record(device, [
      { field: 'a', value: 2 },
      { field: 'a', value: 3 },
    ]);
    expect(twice).toMatchObject({
      status: 429,
      body: { rejected: [{ code: 'RATE_LIMITED' }, { code: 'RATE_LIMITED' }] },
    });
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
    const once = { stored: 1, rejected: [{ index: 0, code: 'DUPLICATE_IN_REQUEST' }] };
    expect(await record()).toEqual({ recordMeasurements: once });
    expect(await record()).toEqual({ recordMeasurements: once });
  });
});
