import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callsOf, callWebhook, historyOf, latestOf, saveDecoder } from '../decoders/webhook-client.ts';
import { createProduct, EITHER_DATABASE, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { createToken, createWorkspace } from '../support/tenant.ts';

interface Unknown {
  id: string;
  identifier: string;
  network: string;
  productId: string | null;
  seen: number;
}

const LIST = 'query ($w: ID) { unknownDevices(workspaceId: $w) { id identifier network productId seen } }';
const ADOPT =
  'mutation ($id: ID!, $p: ID!) { adoptUnknownDevice(id: $id, productId: $p, plan: "unlimited") { id name serialNumber } }';
const ADOPT_ALL =
  'mutation ($ids: [ID!]!, $p: ID!) { adoptUnknownDevices(ids: $ids, productId: $p, plan: "unlimited") { id serialNumber } }';
const DECODER = `function Decoder(request) {
  var body = JSON.parse(request.body);
  return body.devices.map(function (device) { return { device: device, field: 'T', value: body.value, timestamp: body.at } }); }`;

describe.each(EITHER_DATABASE)('names of no device on a webhook, on %s', (name) => {
  let server: TestServer;
  let workspaceId: string;
  let product: TestProduct;
  beforeAll(async () => {
    server = await startServer({ database: name });
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    workspaceId = await createWorkspace(server, 'webhooks');
    product = await newProduct();
  });

  async function newProduct(): Promise<TestProduct> {
    const made = await createProduct(server, { workspaceId, fields: { T: 'FLOAT' }, serialNumbers: [] });
    await saveDecoder(server, made.id, DECODER);
    return made;
  }
  const send = (devices: unknown[], value: number, to = product) =>
    callWebhook(server, to, { body: JSON.stringify({ devices, value, at: 1795860000 + value }) });
  const list = async (): Promise<Unknown[]> => (await server.gql(LIST, { w: workspaceId }))['unknownDevices'];
  const valuesOf = async (id: string) => (await historyOf(server, id, 'T')).map(([, value]) => value);

  test('they are listed, and adopted with what named them', async () => {
    const calls = [await send(['one'], 1), await send(['one', 'two'], 2)];
    expect(calls.map(({ status, body }) => [status, body])).toEqual([
      [200, { stored: 0, rejected: 1 }],
      [200, { stored: 0, rejected: 2 }],
    ]);
    const listed = await list();
    expect(listed).toHaveLength(2);
    const one = listed.find(({ identifier }) => identifier === 'one')!;
    expect(one).toMatchObject({ network: 'webhook', productId: product.id, seen: 2 });
    const { adoptUnknownDevice: device } = await server.gql(ADOPT, { id: one.id, p: product.id });
    expect(device).toMatchObject({ name: 'one', serialNumber: 'one' });
    expect(await valuesOf(device.id)).toEqual([1, 2]);
    // The calls are where they were, with what became of them now.
    const logged = await callsOf(server, product.id);
    expect(logged.map(({ status }) => status)).toEqual(['PARTLY_STORED', 'STORED']);
    expect((await list()).map(({ identifier }) => identifier)).toEqual(['two']);
    expect((await send(['one'], 3)).body).toEqual({ stored: 1, rejected: 0 });
    expect(await latestOf(server, device.id)).toEqual({ T: 3 });
  });

  test('all of them are adopted in one step', async () => {
    const names = Array.from({ length: 30 }, (_, at) => `sensor ${at}`);
    for (const value of [1, 2]) await send(names, value);
    const listed = await list();
    expect(listed.map(({ identifier }) => identifier).toSorted()).toEqual(names.toSorted());
    const ids = listed.map(({ id }) => id);
    const { adoptUnknownDevices: devices } = await server.gql(ADOPT_ALL, { ids, p: product.id });
    expect(devices.map(({ serialNumber }: { serialNumber: string }) => serialNumber)).toEqual(
      listed.map(({ identifier }) => identifier),
    );
    for (const { id } of devices) expect(await valuesOf(id)).toEqual([1, 2]);
    expect(await list()).toEqual([]);
    expect(await callsOf(server, product.id)).toHaveLength(2);
  });

  test('of two products each has its own; one that is made by hand is listed no more', async () => {
    const other = await newProduct();
    await send(['one'], 1);
    await send(['one'], 2, other);
    const listed = await list();
    expect(new Set(listed.map(({ productId }) => productId))).toEqual(new Set([product.id, other.id]));
    const own = listed.find(({ productId }) => productId === product.id)!;
    const answer = await server.query(ADOPT, { id: own.id, p: other.id });
    expect(answer.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    await server.gql(
      'mutation ($id: ID!) { createDevices(productId: $id, devices: [{ name: "d", serialNumber: "one" }]) { id } }',
      { id: product.id },
    );
    expect((await list()).map(({ productId }) => productId)).toEqual([other.id]);
    // Adopted all the same it gets what was sent before.
    const { adoptUnknownDevice: device } = await server.gql(ADOPT, { id: own.id, p: product.id });
    expect(await valuesOf(device.id)).toEqual([1]);
  });

  test('an EUI is one name however it is written, and CONFLICT where another product has it', async () => {
    const eui = `a8${randomBytes(7).toString('hex')}`;
    await send([eui, eui.toUpperCase(), eui.match(/../g)!.join('-')], 1);
    const [unknown, ...others] = await list();
    expect(others).toEqual([]);
    const holder = await createProduct(server, { workspaceId, serialNumbers: [eui], input: { name: 'holder' } });
    const [error] = (await server.query(ADOPT, { id: unknown!.id, p: product.id })).errors!;
    expect(error).toMatchObject({ extensions: { code: 'CONFLICT' } });
    expect(error!.message).toContain('"holder"');
    await server.gql('mutation ($ids: [ID!]!) { deleteDevices(ids: $ids) }', { ids: holder.deviceIds });
    const { adoptUnknownDevice: device } = await server.gql(ADOPT, { id: unknown!.id, p: product.id });
    expect(await valuesOf(device.id)).toEqual([1]);
  });

  test('what can be no serial number, and what nobody sent, is not listed', async () => {
    await send([' ', 'x'.repeat(101), 'a\nb', 'a\0b', { no: 'name' }, null, ' one'], 1);
    await server.gql('mutation ($id: ID!, $b: String!) { testDecoder(productId: $id, request: { body: $b }) { ok } }', {
      id: product.id,
      b: JSON.stringify({ devices: ['tried'], value: 1 }),
    });
    expect(await list()).toEqual([]);
  });

  test('of made-up names no more are kept than the bound, beside those of networks', async () => {
    const uplink = {
      end_device_ids: { dev_eui: randomBytes(8).toString('hex') },
      uplink_message: { f_port: 1, frm_payload: 'AQ==' },
    };
    const { secret } = await createToken(server, server.adminToken, workspaceId, ['RECORD']);
    await fetch(`${server.url}/integrations/lorawan/tti/`, {
      method: 'POST',
      headers: { authorization: `Token ${secret}` },
      body: JSON.stringify(uplink),
    });
    for (let call = 0; call < 7; call += 1)
      await send(
        Array.from({ length: 300 }, (_, at) => `${call} ${at}`),
        call,
      );
    const listed = await list();
    expect(listed.filter(({ network }) => network === 'webhook')).toHaveLength(1_000);
    expect(listed.filter(({ network }) => network === 'tti')).toHaveLength(1);
    // Of a call so many.
    expect(listed.filter(({ identifier }) => identifier.startsWith('6 '))).toHaveLength(200);
  });
});
