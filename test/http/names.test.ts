import { randomBytes } from 'node:crypto';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callsOf, callWebhook, historyOf, latestOf, saveDecoder } from '../decoders/webhook-client.ts';
import {
  createDatabase,
  createProduct,
  EITHER_DATABASE,
  readAnswer,
  type RestAnswer,
  startServer,
  type TestDatabase,
  type TestProduct,
  type TestServer,
} from '../support/server.ts';
import { createToken, createWorkspace } from '../support/tenant.ts';

const BY_SERIAL = 'query ($s: String!, $w: ID) { deviceBySerialNumber(serialNumber: $s, workspaceId: $w) { id } }';
const SEARCH =
  'query ($s: String!, $w: ID) { devices(workspaceId: $w, search: $s) { totalCount edges { node { id } } } }';
const CREATE = `mutation ($id: ID!, $devices: [DeviceInput!]!) {
  createDevices(productId: $id, devices: $devices, plan: "unlimited") { id serialNumber } }`;
const RENAME = 'mutation ($id: ID!, $s: String!) { updateDevice(id: $id, input: { serialNumber: $s }) { id } }';
const REPLACE = `mutation ($id: ID!, $s: String!, $absorb: ID) {
  replaceDevice(id: $id, serialNumber: $s, absorb: $absorb) { id serialNumber } }`;
const UNKNOWN = `query ($w: ID) { unknownDevices(workspaceId: $w) { id identifier network seen ambiguous } }`;
const ADOPT = `mutation ($id: ID!, $p: ID!) { adoptUnknownDevice(id: $id, productId: $p, plan: "unlimited") { id } }`;
const EACH = `function Decoder(request) {
  return JSON.parse(request.body).map(function (d, at) {
    return { device: d, field: 'T', value: 1, timestamp: 1795860000 + at } }); }`;

/** An EUI that nobody has, with letters in it. */
const newEui = (): string => `a8${randomBytes(7).toString('hex')}`;
const newCoreId = (): string => `e0${randomBytes(11).toString('hex')}`;

/** The same identifier as people and networks write it. */
function spellings(id: string): string[] {
  const bytes = id.match(/../g)!;
  return [
    id.toUpperCase(),
    bytes.join('-').toUpperCase(),
    bytes.join(':'),
    id.match(/..../g)!.join('.'),
    bytes.join(' '),
    `0x${id}`,
    `0X${id.toUpperCase()}`,
  ];
}

describe.each(EITHER_DATABASE)('names of devices on %s', (name) => {
  let database: TestDatabase;
  let server: TestServer;
  let workspaceId: string;
  let token: string;
  beforeAll(async () => {
    database = await createDatabase(name);
    server = await startServer({ database });
  });
  afterAll(async () => {
    await server?.stop();
    await database?.drop();
  });
  beforeEach(async () => {
    workspaceId = await createWorkspace(server, 'names');
    token = (await createToken(server, server.adminToken, workspaceId, ['RECORD', 'CONFIGURE', 'READ'])).secret;
  });

  const newProduct = (deviceType: string, serialNumbers: string[] = [], named = 'product'): Promise<TestProduct> =>
    createProduct(server, { workspaceId, serialNumbers, fields: { T: 'FLOAT' }, input: { deviceType, name: named } });
  const create = (productId: string, serialNumbers: string[], secret = token) =>
    server.query(
      CREATE,
      { id: productId, devices: serialNumbers.map((serialNumber) => ({ name: 'd', serialNumber })) },
      secret,
    );
  const uplink = async (devEui: string, value = 21, secret = token): Promise<RestAnswer> =>
    readAnswer(
      await fetch(`${server.url}/integrations/lorawan/chirpstack/?event=up`, {
        method: 'POST',
        headers: { authorization: `Token ${secret}` },
        body: JSON.stringify({ deviceInfo: { devEui }, fPort: 2, data: 'AQI=', object: { T: value }, rxInfo: [] }),
      }),
    );
  const unknown = async () => (await server.gql(UNKNOWN, { w: workspaceId }, token))['unknownDevices'];

  test.each([
    ['EUI', newEui],
    ['core id', newCoreId],
  ])('an %s is found at every door, however it is written', async (_, newId) => {
    const id = newId();
    const stored = spellings(id)[1]!;
    const product = await newProduct('API', [stored]);
    const [deviceId] = product.deviceIds as [string];
    await saveDecoder(server, product.id, EACH);
    const names = [id, ...spellings(id)];
    for (const spelled of names)
      expect(await server.record(spelled, [{ field: 'T', value: 1, timestamp: 1795850000 }], { token })).toMatchObject({
        status: 200,
      });
    expect(await callWebhook(server, product, { body: JSON.stringify(names) })).toMatchObject({
      body: { stored: names.length, rejected: 0 },
    });
    const lines = names.map((spelled, at) => `${spelled},T,${1795860100 + at},${at}`).join('\n');
    const imported = await fetch(`${server.url}/v1/import`, {
      method: 'POST',
      headers: { authorization: `Token ${token}`, 'content-type': 'text/csv' },
      body: `device,field,timestamp,value\n${lines}\n`,
    });
    expect(await imported.json()).toMatchObject({ stored: names.length, refused: 0 });
    for (const spelled of names) {
      const exported = await fetch(`${server.url}/v1/devices/${encodeURIComponent(spelled)}/history.csv`, {
        headers: { authorization: `Token ${token}` },
      });
      expect(exported.status).toBe(200);
      expect(await exported.text()).toContain(',T,');
      expect((await server.gql(BY_SERIAL, { s: spelled, w: workspaceId }))['deviceBySerialNumber']).toEqual({
        id: deviceId,
      });
      expect((await server.gql(SEARCH, { s: spelled, w: workspaceId }))['devices']).toMatchObject({
        totalCount: 1,
        edges: [{ node: { id: deviceId } }],
      });
    }
    await saveDecoder(
      server,
      product.id,
      `function Decoder(request) {
         var names = JSON.parse(request.body);
         for (var i = 0; i < names.length; i += 1) measurements[names[i]];
         return names.map(function (d, at) {
           var is = d in deviceSerialToId && deviceSerialToId.hasOwnProperty(d);
           var last = measurements[d].T.value;
           return { device: is && deviceSerialToId[d], field: 'T', value: last === null ? -1 : at, timestamp: 1795870000 + at } }); }`,
    );
    const seen = await callWebhook(server, product, { body: JSON.stringify(names) });
    expect((await callsOf(server, product.id))[0]!.run!.error).toBeNull();
    expect(seen).toMatchObject({ body: { stored: names.length, rejected: 0 } });
    expect(await latestOf(server, deviceId)).toEqual({ T: 7 });
  });

  test('a part of an EUI is found in either spelling', async () => {
    const id = newEui();
    const { deviceIds } = await newProduct('LORAWAN', [spellings(id)[1]!]);
    const tail = id.slice(-6);
    for (const s of [tail, tail.match(/../g)!.join('-').toUpperCase(), tail.match(/../g)!.join(':')])
      expect((await server.gql(SEARCH, { s, w: workspaceId }))['devices'].edges).toEqual([
        { node: { id: deviceIds[0] } },
      ]);
  });

  test('other serial numbers are compared exactly, in products of every type', async () => {
    for (const deviceType of ['API', 'LORAWAN', 'PARTICLE']) {
      const [one, other] = [`Hall-${deviceType}`, `hall-${deviceType}`];
      const product = await newProduct(deviceType, [one, other]);
      expect(new Set(product.deviceIds).size).toBe(2);
      for (const [at, serial] of [one, other].entries()) {
        expect(await server.record(serial, [{ field: 'T', value: at }], { token })).toMatchObject({ status: 200 });
        expect(await latestOf(server, product.deviceIds[at]!)).toEqual({ T: at });
      }
      expect(await server.record(`HALL-${deviceType}`, [], { token })).toMatchObject({ status: 404 });
      expect((await create(product.id, [one])).errors?.[0]?.extensions.code).toBe('CONFLICT');
    }
    // In another product they are another's.
    const product = await newProduct('API', ['Hall-API']);
    expect(product.deviceIds).toHaveLength(1);
  });

  test.each(['API', 'LORAWAN', 'PARTICLE'])(
    'an identifier of a device of type %s is taken in the whole workspace, by every way to name one',
    async (deviceType) => {
      for (const id of [newEui(), newCoreId()]) {
        const holder = await newProduct(deviceType, [id], 'holder');
        for (const otherType of ['API', 'LORAWAN', 'PARTICLE']) {
          const other = await newProduct(otherType, ['mine', 'too'], 'other');
          const [mine, too] = other.deviceIds as [string, string];
          for (const s of [id, spellings(id)[1]!]) {
            const refusals = [
              await create(other.id, ['free', s]),
              await server.query(RENAME, { id: mine, s }, token),
              await server.query(REPLACE, { id: mine, s }, token),
              await create(holder.id, [s]),
            ];
            for (const { errors } of refusals) {
              expect(errors?.[0]?.extensions.code).toBe('CONFLICT');
              expect(errors?.[0]?.message).toContain(`the device "device ${id}" of the product "holder"`);
            }
          }
          expect((await server.query(REPLACE, { id: mine, s: id, absorb: too }, token)).errors?.[0]?.message).toContain(
            'absorb: that device has the serial number "too"',
          );
        }
        // Its own may be written anew, and is free once it is gone.
        const [own] = holder.deviceIds as [string];
        await server.gql(RENAME, { id: own, s: spellings(id)[1] }, token);
        await server.gql('mutation ($ids: [ID!]!) { deleteDevices(ids: $ids) }', { ids: [own] }, token);
        expect((await create(holder.id, [spellings(id)[2]!])).errors).toBeUndefined();
      }
    },
  );

  test('twice in one list is CONFLICT, too, and of two at once one is refused', async () => {
    const [first, second] = [await newProduct('API'), await newProduct('LORAWAN')];
    const id = newEui();
    const [twice] = (await create(first.id, [id, spellings(id)[1]!])).errors!;
    expect(twice).toMatchObject({ extensions: { code: 'CONFLICT' } });
    expect(twice!.message).toContain('devices[1].serialNumber');
    const both = await Promise.all([create(first.id, [id]), create(second.id, [spellings(id)[1]!])]);
    expect(both.filter(({ errors }) => errors === undefined)).toHaveLength(1);
  });

  test('who sees some products only is told that it is taken, and not where', async () => {
    const id = newEui();
    await newProduct('API', [id], 'secret');
    const own = await newProduct('API');
    const limits = { productIds: [own.id] };
    const { secret } = await createToken(server, server.adminToken, workspaceId, ['CONFIGURE'], limits);
    const [error] = (await create(own.id, [id.toUpperCase()], secret)).errors!;
    expect(error).toMatchObject({ extensions: { code: 'CONFLICT' } });
    expect(error!.message).toContain('another device of the workspace');
    expect(error!.message).not.toContain('secret');
  });

  test('of two workspaces each has its own', async () => {
    const id = newEui();
    const { deviceIds } = await newProduct('LORAWAN', [id]);
    const elsewhere = await createWorkspace(server, 'elsewhere');
    await createProduct(server, { workspaceId: elsewhere, serialNumbers: [id], input: { deviceType: 'LORAWAN' } });
    expect(await uplink(id)).toMatchObject({ status: 200, body: { stored: 1 } });
    expect(await latestOf(server, deviceIds[0]!)).toEqual({ T: 21 });
  });

  const nearMisses: [string, (id: string) => string, (id: string) => string][] = [
    ['a zero-width space behind it', (id) => `${id}\u200b`, (id) => id],
    ['a soft hyphen in it', (id) => `${id.slice(0, 8)}\u00ad${id.slice(8)}`, (id) => id],
    ['a word joiner before it', (id) => `\u2060${id}`, (id) => id],
    ['the name of The Things Stack', (id) => `eui-${id}`, (id) => id],
    ['that name without the hyphen', (id) => `eui${id.toUpperCase()}`, (id) => id.toUpperCase()],
    ['a label before it', (id) => `DevEUI: ${id}`, (id) => id],
    ['O for 0', (id) => id.replace(/0/g, 'O'), (id) => id],
    ['typographic dashes', (id) => id.match(/../g)!.join('\u2013'), (id) => id],
    ['a digit too few', (id) => id.slice(1), (id) => String(id.length - 1)],
    ['a digit too many', (id) => `${id}0`, (id) => String(id.length + 1)],
  ];
  test.each(['LORAWAN', 'PARTICLE'])('near misses of an identifier are told in a %s product', async (deviceType) => {
    const product = await newProduct(deviceType, ['mine']);
    for (const [what, written, meant] of nearMisses) {
      // With zeros in it, for those that write them as letters.
      const id = (deviceType === 'LORAWAN' ? newEui() : newCoreId()).replace(/.....$/, '70b03');
      const refusals = [
        await create(product.id, [written(id)]),
        await server.query(RENAME, { id: product.deviceIds[0], s: written(id) }, token),
        await server.query(REPLACE, { id: product.deviceIds[0], s: written(id) }, token),
      ];
      for (const { errors } of refusals) {
        expect([what, errors?.[0]?.extensions.code]).toEqual([what, 'BAD_USER_INPUT']);
        expect(errors![0]!.message).toContain(meant(id));
        expect(errors![0]!.message).toMatch(/serialNumber: /);
      }
    }
    // What looks like none of them is as free as ever.
    expect((await create(product.id, ['Hall-1', '12345678', 'sensor 4'])).errors).toBeUndefined();
  });

  test('in an API product only what nobody sees is refused', async () => {
    const product = await newProduct('API');
    const id = newEui();
    const [error] = (await create(product.id, [`hall\u200b-1`])).errors!;
    expect(error!.message).toContain('invisible character in it (U+200B)');
    expect((await create(product.id, [`eui-${id}`, id.slice(1), `${id}0`])).errors).toBeUndefined();
  });

  test('a field that cannot be called so is told what it can be called, and suggested as that', async () => {
    const product = await newProduct('API', ['meter']);
    await saveDecoder(server, product.id, 'function Decoder(request) { return JSON.parse(request.body) }');
    const usable: Record<string, string> = {
      'position.latitude': 'position_latitude',
      '1-0:1.8.0*255': '1-0_1_8_0_255',
      Außentemperatur: 'Au_entemperatur',
      'pm2.5 ': 'pm2_5',
    };
    const suggested = async (): Promise<Record<string, number>> => {
      const { product: shown } = await server.gql(
        'query ($id: ID!) { product(id: $id) { suggestedFields { identifier seen } } }',
        { id: product.id },
      );
      return Object.fromEntries(
        shown.suggestedFields.map(({ identifier, seen }: { identifier: string; seen: number }) => [identifier, seen]),
      );
    };
    const entries = Object.keys(usable).map((field) => ({ field, value: 1.5 }));
    const recorded = await server.record('meter', [...entries, { field: 'T ', value: 1 }, { field: '温度', value: 1 }]);
    expect(recorded.status).toBe(400);
    for (const [at, { field }] of entries.entries()) {
      const { code, message } = recorded.body.rejected[at];
      expect(code).toBe('UNKNOWN_FIELD');
      expect(message).toContain(`No field can be called "${field}"`);
      expect(message).toContain(`"${usable[field]}"`);
    }
    expect(recorded.body.rejected[4].message).toContain('the product has "T"');
    expect(recorded.body.rejected[5].message).toContain('No field can be called "温度"');
    expect(await suggested()).toEqual(Object.fromEntries(Object.values(usable).map((identifier) => [identifier, 1])));
    const body = JSON.stringify(entries.map((entry) => ({ device: 'meter', ...entry })));
    await callWebhook(server, product, { body });
    const [call] = await callsOf(server, product.id);
    expect(call!.run!.entries.map(({ message }) => message)).toEqual(
      entries.map(({ field }) => expect.stringContaining(`"${usable[field]}"`)),
    );
    expect(await suggested()).toEqual(Object.fromEntries(Object.values(usable).map((identifier) => [identifier, 2])));
    const { testDecoder } = await server.gql(
      `mutation ($id: ID!, $body: String!) { testDecoder(productId: $id, request: { body: $body }) {
         entries { suggestedField { identifier type } } } }`,
      { id: product.id, body },
    );
    expect(testDecoder.entries).toEqual(
      Object.values(usable).map((identifier) => ({ suggestedField: { identifier, type: 'FLOAT' } })),
    );
    const imported = await fetch(`${server.url}/v1/devices/meter/import`, {
      method: 'POST',
      headers: { authorization: `Token ${token}`, 'content-type': 'text/csv' },
      body: 'timestamp,position.latitude\n1795860000,1\n',
    });
    expect(((await imported.json()) as RestAnswer['body']).rejected[0].message).toContain('"position_latitude"');
    const [error] = (
      await server.query(
        'mutation ($id: ID!) { addField(productId: $id, input: { identifier: "pm2.5", type: FLOAT }) { id } }',
        { id: product.id },
      )
    ).errors!;
    expect(error!.message).toContain('such as "pm2_5"');
  });

  describe('of an old database, where several devices have an identifier', () => {
    /** Two devices that have it, in one product or in two; the server was started anew on that. */
    async function pair(
      id: string,
      { inOne }: { inOne: boolean },
    ): Promise<{ products: TestProduct[]; devices: string[] }> {
      const first = await newProduct('API', ['one', 'two'], 'first');
      const second = inOne ? first : await newProduct('LORAWAN', ['two'], 'second');
      const devices = [first.deviceIds[0]!, inOne ? first.deviceIds[1]! : second.deviceIds[0]!];
      await server.process.stop();
      const as = [id, spellings(id)[1]!];
      for (const [at, device] of devices.entries())
        await execute(`update device set serial_number = '${as[at]}', serial_folded = '${id}' where id = '${device}'`);
      server = await startServer({ database });
      return { products: [first, second], devices };
    }

    async function execute(statement: string): Promise<void> {
      if (name === 'sqlite') {
        const file = new Sqlite(database.url.slice('sqlite:'.length));
        file.exec(statement);
        file.close();
        return;
      }
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      await client.query(statement);
      await client.end();
    }

    test.each([true, false])(
      'what it sends is kept, and handed over once it is settled (in one product: %s)',
      async (inOne) => {
        const id = newEui();
        const { products, devices } = await pair(id, { inOne });
        const isTold = ({ msg }: { msg?: unknown }): boolean => /several devices have one EUI/.test(String(msg));
        await expect.poll(() => server.process.lines.some(isTold)).toBe(true);
        const told = server.process.lines.filter(isTold);
        expect(told).toHaveLength(1);
        expect(JSON.stringify(told[0])).toContain(id);
        for (const [at, written] of [id, id.toUpperCase()].entries())
          expect(await uplink(written, at)).toMatchObject({
            status: 202,
            body: { stored: 0, error: 'UNKNOWN_DEVICE', reason: 'AMBIGUOUS_DEVICE' },
          });
        const [listed, ...others] = await unknown();
        expect(others).toEqual([]);
        expect(listed).toMatchObject({ network: 'chirpstack', seen: 2, ambiguous: true });
        for (const spelled of [id, id.toUpperCase()]) {
          expect(await server.record(spelled, [{ field: 'T', value: 1 }], { token })).toMatchObject({
            status: 409,
            body: { code: 'AMBIGUOUS_DEVICE' },
          });
        }
        const adopt = () => server.query(ADOPT, { id: listed.id, p: products[0]!.id }, token);
        const [refused] = (await adopt()).errors!;
        expect(refused).toMatchObject({ extensions: { code: 'CONFLICT' } });
        expect(refused!.message).toContain('several devices have this identifier');
        await server.gql(RENAME, { id: devices[1], s: 'another' }, token);
        // Nothing of it is lost, though a device has the identifier by now.
        expect(await unknown()).toHaveLength(1);
        expect(await uplink(id, 3)).toMatchObject({ status: 200, body: { stored: 1 } });
        expect((await adopt()).errors).toBeUndefined();
        expect((await historyOf(server, devices[0]!, 'T')).map(([, value]) => value).toSorted()).toEqual([0, 1, 3]);
        expect(await latestOf(server, devices[1]!)).toEqual({});
        expect(await unknown()).toEqual([]);
      },
    );

    test('no entry of a decoder chooses one of them; the device id does', async () => {
      const id = newEui();
      const { products, devices } = await pair(id, { inOne: true });
      await saveDecoder(server, products[0]!.id, EACH);
      const body = JSON.stringify([id, spellings(id)[2], devices[1]]);
      expect(await callWebhook(server, products[0]!, { body })).toMatchObject({ body: { stored: 1, rejected: 2 } });
      const [call] = await callsOf(server, products[0]!.id);
      expect(call!.run!.entries[0]).toMatchObject({
        code: 'UNKNOWN_DEVICE',
        message: expect.stringMatching(/^Several/),
      });
      // One of them absorbs the other.
      const given = { id: devices[0], s: id.toUpperCase(), absorb: devices[1] };
      expect((await server.gql(REPLACE, given, token))['replaceDevice'].serialNumber).toBe(id.toUpperCase());
      expect(await server.record(id, [{ field: 'T', value: 1 }], { token })).toMatchObject({ status: 200 });
    });

    test('a token that sees one of them delivers to that one', async () => {
      const id = newEui();
      const { products, devices } = await pair(id, { inOne: false });
      const limits = { productIds: [products[1]!.id] };
      const { secret } = await createToken(server, server.adminToken, workspaceId, ['RECORD'], limits);
      expect(await uplink(id, 5, secret)).toMatchObject({ status: 200, body: { stored: 1 } });
      expect(await latestOf(server, devices[1]!)).toEqual({ T: 5 });
    });
  });
});
