import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { TTI_UPLINK } from '../decoders/network-samples.ts';
import { latestOf } from '../decoders/webhook-client.ts';

const ADD = `mutation ($id: ID!, $input: ConfigurationFieldInput!) {
  addConfigurationField(productId: $id, input: $input) { id identifier type name description default }
}`;
const SET = 'mutation ($id: ID!, $values: JSON!) { setConfiguration(deviceId: $id, values: $values) { id } }';
const VALUES = 'query ($id: ID!) { device(id: $id) { configuration { field { identifier } value overridden } } }';

describe.each(EITHER_DATABASE)('configuration on %s', (database) => {
  let server: TestServer;
  let product: TestProduct;
  let serial = 0;
  beforeAll(async () => {
    server = await startServer({ database });
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    const decoder = `function decodeUplink(input) {
      return { data: { SEEN: JSON.stringify(input.variables), SCALED: input.bytes[0] * Number(input.variables.FACTOR || 1) } };
    }`;
    serial += 1;
    product = await createProduct(server, {
      fields: { SEEN: 'STRING', SCALED: 'FLOAT' },
      serialNumbers: [euiOf(serial)],
      input: { deviceType: 'LORAWAN', decoder },
    });
  });
  const euiOf = (n: number) => `70B3D57ED00${n.toString(16).padStart(5, '0')}`;
  const add = async (input: Record<string, unknown>) =>
    (await server.gql(ADD, { id: product.id, input }))['addConfigurationField'];
  const valuesOf = async () =>
    (await server.gql(VALUES, { id: product.deviceIds[0] }))['device'].configuration.map(
      (one: { field: { identifier: string }; value: unknown; overridden: boolean }) => [
        one.field.identifier,
        one.value,
        one.overridden,
      ],
    );
  const codeOf = async (query: string, variables: unknown) =>
    (await server.query(query, variables)).errors?.[0]?.extensions.code;
  let frames = 0;
  const sendUplink = async () => {
    // Each a frame of its own: the same one again is stored once.
    const uplink = { ...TTI_UPLINK.uplink_message, f_cnt: (frames += 1) };
    const response = await fetch(`${server.url}/integrations/lorawan/tti/`, {
      method: 'POST',
      headers: { authorization: `Token ${server.adminToken}` },
      body: JSON.stringify({ ...TTI_UPLINK, uplink_message: uplink, end_device_ids: { dev_eui: euiOf(serial) } }),
    });
    expect(response.status).toBe(200);
    return latestOf(server, product.deviceIds[0]!);
  };

  test('what one device is told is bounded; what it was told before stays', async () => {
    const long = 'x'.repeat(4_096);
    const identifiers = Array.from({ length: 16 }, (_, at) => `LONG_${at}`);
    for (const identifier of identifiers) await add({ identifier, type: 'STRING' });
    const set = (some: string[]) => {
      const values = Object.fromEntries(some.map((identifier) => [identifier, long]));
      return server.query(SET, { id: product.deviceIds[0], values });
    };
    expect((await set(identifiers.slice(0, 15))).errors).toBeUndefined();
    const { errors } = await set(identifiers.slice(15));
    expect(errors?.[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
    expect(errors?.[0]?.message).toContain('at most 65536');
    expect(await valuesOf()).toEqual(identifiers.map((identifier, at) => [identifier, at < 15 ? long : null, at < 15]));
  });

  test('defaults are inherited, overridden on the device, and given back by null', async () => {
    const factor = await add({ identifier: 'FACTOR', type: 'NUMBER', name: 'Factor', default: 2 });
    expect(factor).toMatchObject({
      identifier: 'FACTOR',
      type: 'NUMBER',
      name: 'Factor',
      description: null,
      default: 2,
    });
    await add({ identifier: 'LABEL', type: 'STRING' });
    await add({ identifier: 'ON', type: 'BOOLEAN', default: false });
    expect(await valuesOf()).toEqual([
      ['FACTOR', 2, false],
      ['LABEL', null, false],
      ['ON', false, false],
    ]);
    expect(await sendUplink()).toEqual({ SEEN: '{"FACTOR":"2","ON":"false"}', SCALED: 2 });

    await server.gql(SET, { id: product.deviceIds[0], values: { FACTOR: 10, LABEL: 'x' } });
    expect(await valuesOf()).toEqual([
      ['FACTOR', 10, true],
      ['LABEL', 'x', true],
      ['ON', false, false],
    ]);
    expect(await sendUplink()).toEqual({ SEEN: '{"FACTOR":"10","LABEL":"x","ON":"false"}', SCALED: 10 });

    await server.gql(SET, { id: product.deviceIds[0], values: { FACTOR: null } });
    await server.gql(
      'mutation ($id: ID!) { updateConfigurationField(id: $id, input: { default: 3, name: null }) { default name } }',
      { id: factor.id },
    );
    expect((await valuesOf())[0]).toEqual(['FACTOR', 3, false]);
    expect((await sendUplink())['SCALED']).toBe(3);

    await server.gql(SET, { id: product.deviceIds[0], values: { FACTOR: 9 } });
    await server.gql('mutation ($id: ID!) { removeConfigurationField(id: $id) }', { id: factor.id });
    expect((await valuesOf()).map(([identifier]: [string]) => identifier)).toEqual(['LABEL', 'ON']);
    // A field of the same name is another field: what the device said of the old one is gone.
    await add({ identifier: 'FACTOR', type: 'NUMBER' });
    expect((await valuesOf())[2]).toEqual(['FACTOR', null, false]);
    expect((await sendUplink())['SCALED']).toBe(1);
  });

  test('configurationValues are flat for the device at hand on native routes', async () => {
    await add({ identifier: 'FACTOR', type: 'NUMBER', default: 2 });
    await server.gql(
      'mutation ($id: ID!, $source: String!) { saveDecoder(productId: $id, source: $source) { version } }',
      {
        id: product.id,
        source: `function decodeUplink() { return { data: { SEEN: JSON.stringify(configurationValues.FACTOR) } } }`,
      },
    );
    expect((await sendUplink())['SEEN']).toBe('2');
    await server.gql(SET, { id: product.deviceIds[0], values: { FACTOR: 7 } });
    expect((await sendUplink())['SEEN']).toBe('7');
  });

  test('and by the id of a device on the webhook', async () => {
    const source = `function Decoder(request) {
      var id = deviceSerialToId[request.body];
      return { device: id, field: 'SEEN', value: JSON.stringify(configurationValues[id]) };
    }`;
    const webhook = await createProduct(server, {
      fields: { SEEN: 'STRING' },
      serialNumbers: ['own', 'default'],
      input: { decoder: source },
    });
    await server.gql(ADD, { id: webhook.id, input: { identifier: 'FACTOR', type: 'NUMBER', default: 2 } });
    await server.gql(SET, { id: webhook.deviceIds[0], values: { FACTOR: 7 } });
    for (const [at, serialNumber, value] of [
      [0, 'own', '{"FACTOR":7}'],
      [1, 'default', '{"FACTOR":2}'],
    ] as const) {
      const url = `${server.url}/integrations/api/${webhook.webhookId}/`;
      expect((await fetch(url, { method: 'POST', body: serialNumber })).status).toBe(200);
      expect((await latestOf(server, webhook.deviceIds[at]!))['SEEN']).toBe(value);
    }
  });

  test('wrong types, unknown and taken identifiers are refused', async () => {
    await add({ identifier: 'N', type: 'NUMBER' });
    expect(await codeOf(ADD, { id: product.id, input: { identifier: 'N', type: 'STRING' } })).toBe('CONFLICT');
    const wrong = [
      { identifier: 'a b', type: 'NUMBER' },
      { identifier: 'A', type: 'NUMBER', default: '1' },
      { identifier: 'A', type: 'BOOLEAN', default: 1 },
      { identifier: 'A', type: 'STRING', default: 'x\0' },
    ];
    for (const input of wrong) expect(await codeOf(ADD, { id: product.id, input })).toBe('BAD_USER_INPUT');
    for (const values of [{ N: 'x' }, { M: 1 }, [1], 'x'])
      expect(await codeOf(SET, { id: product.deviceIds[0], values })).toBe('BAD_USER_INPUT');
    expect(await valuesOf()).toEqual([['N', null, false]]);
  });

  test('a cloned product has the fields, and none of the values', async () => {
    await add({ identifier: 'N', type: 'NUMBER', default: 5 });
    const { cloneProduct } = await server.gql(
      `mutation ($id: ID!) { cloneProduct(id: $id, name: "copy") { configurationFields { identifier type default } } }`,
      { id: product.id },
    );
    expect(cloneProduct.configurationFields).toEqual([{ identifier: 'N', type: 'NUMBER', default: 5 }]);
  });
});
