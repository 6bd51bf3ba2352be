import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  createProduct,
  EITHER_DATABASE,
  readAnswer,
  type RestAnswer,
  startServer,
  type TestServer,
} from '../support/server.ts';
import { createToken, createWorkspace } from '../support/tenant.ts';
import { CHIRPSTACK_UPLINK, HELIUM_UPLINK, PARTICLE_EVENT, TTI_UPLINK } from '../decoders/network-samples.ts';
import { callsOf, historyOf, latestOf, saveDecoder } from '../decoders/webhook-client.ts';

const PATHS = {
  tti: 'lorawan/tti/',
  chirpstack: 'lorawan/chirpstack/?event=up',
  helium: 'lorawan/helium/',
  particle: 'particle/',
};
const SAMPLES = { tti: TTI_UPLINK, chirpstack: CHIRPSTACK_UPLINK, helium: HELIUM_UPLINK, particle: PARTICLE_EVENT };
const IDENTIFIERS = {
  tti: '0004A30B001C0530',
  chirpstack: '24e124128b012345',
  helium: '1C29FBD1D2084E21',
  particle: 'e00fce68aabbccddeeff0011',
};
const TIMES = {
  tti: '2026-02-12T15:15:46.787Z',
  chirpstack: '2026-05-01T10:00:00.123Z',
  helium: new Date(1_778_000_000_123).toISOString(),
  particle: '2026-03-04T05:06:07.089Z',
};
type NetworkName = keyof typeof SAMPLES;
const LORAWAN: NetworkName[] = ['tti', 'chirpstack', 'helium'];
const ALL: NetworkName[] = [...LORAWAN, 'particle'];

describe.each(EITHER_DATABASE)('native integrations on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  let token: string;
  let readToken: string;
  beforeAll(async () => {
    server = await startServer({ database });
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    workspaceId = await createWorkspace(server, 'networks');
    token = (await createToken(server, server.adminToken, workspaceId, ['RECORD'])).secret;
    readToken = (await createToken(server, server.adminToken, workspaceId, ['READ'])).secret;
  });

  const send = async (
    path: string,
    message: unknown,
    secret: string | null = token,
    method = 'POST',
  ): Promise<RestAnswer> =>
    readAnswer(
      await fetch(`${server.url}/integrations/${path}`, {
        method,
        headers: {
          'Content-Type': 'application/json',
          ...(secret === null ? {} : { Authorization: `Token ${secret}` }),
        },
        ...(method === 'GET' || method === 'HEAD'
          ? {}
          : { body: typeof message === 'string' ? message : JSON.stringify(message) }),
      }),
    );
  const productFor = (network: NetworkName, decoder: string | null, fields: Record<string, string>, serial?: string) =>
    createProduct(server, {
      fields,
      serialNumbers: [serial ?? IDENTIFIERS[network]],
      workspaceId,
      input: { deviceType: network === 'particle' ? 'PARTICLE' : 'LORAWAN', ...(decoder === null ? {} : { decoder }) },
    });

  test.each(LORAWAN)('%s: Decoder(bytes, port) with the normalized payload', async (network) => {
    const source = `function Decoder(bytes, port) {
      return [
        { field: "BYTES", value: bytes.join(",") }, { field: "PORT", value: port },
        { field: "RSSI", value: normalizedPayload.gateways[0].rssi },
        { field: "RAW", value: typeof rawPayload === "object" && normalizedPayload.deviceEui + normalizedPayload.dataRate },
      ];
    }`;
    const product = await productFor(network, source, {
      BYTES: 'STRING',
      PORT: 'INTEGER',
      RSSI: 'FLOAT',
      RAW: 'STRING',
    });
    expect(await send(PATHS[network], SAMPLES[network])).toMatchObject({
      status: 200,
      body: { stored: 4, rejected: 0 },
    });
    expect(await latestOf(server, product.deviceIds[0]!)).toMatchObject(
      {
        tti: { BYTES: '1,2,255', PORT: 2, RSSI: -35, RAW: '0004A30B001C0530SF7BW125' },
        chirpstack: { BYTES: '3,103,220,0', PORT: 85, RSSI: -57, RAW: '24e124128b012345SF9BW125' },
        helium: { BYTES: '72,105', PORT: 1, RSSI: -54, RAW: '1C29FBD1D2084E21SF9BW125' },
        particle: {},
      }[network],
    );
    const [[time]] = (await historyOf(server, product.deviceIds[0]!, 'PORT')) as [[number, unknown]];
    expect(time).toBe(Date.parse(TIMES[network]) / 1000);
    const [call] = await callsOf(server, product.id);
    expect(call).toMatchObject({
      status: 'STORED',
      path: `/integrations/lorawan/${network}/`,
      query: network === 'chirpstack' ? { event: ['up'] } : {},
      headers: { Authorization: '***' },
    });
    expect(call!.run!.entries[0]).toMatchObject({ device: null, matchedDevice: { id: product.deviceIds[0] } });
  });

  test.each(ALL)("%s: a missing decoder leaves the network's own decoded object", async (network) => {
    const fields = { temperature: 'FLOAT', battery: 'FLOAT', temp: 'FLOAT' };
    const product = await productFor(network, null, fields);
    expect(await send(PATHS[network], SAMPLES[network])).toMatchObject({
      status: 200,
      body: { stored: 1, rejected: 0 },
    });
    const expected = {
      tti: { temperature: 21.5 },
      chirpstack: { temperature: 22 },
      helium: { battery: 3.3 },
      particle: { temp: 20.5 },
    };
    expect(await latestOf(server, product.deviceIds[0]!)).toEqual(expected[network]);
    const [call] = await callsOf(server, product.id);
    expect(Date.parse(call!.run!.entries[0]!.timestamp!)).toBe(Date.parse(TIMES[network]));
  });

  test.each(ALL)('%s: identifiers compare without regard to case', async (network) => {
    const serial = IDENTIFIERS[network];
    const swapped = serial === serial.toUpperCase() ? serial.toLowerCase() : serial.toUpperCase();
    const product = await productFor(network, 'function Decoder() { return { N: 1 }; }', { N: 'INTEGER' }, swapped);
    expect(await send(PATHS[network], SAMPLES[network])).toMatchObject({ status: 200, body: { stored: 1 } });
    expect(await latestOf(server, product.deviceIds[0]!)).toEqual({ N: 1 });
  });

  test('decodeUplink gets bytes, fPort and recvTime; unknown keys are suggested', async () => {
    const source = `function decodeUplink(input) {
      return { data: { T: input.bytes[2] / 10, AT: input.recvTime.toISOString(), FRESH: input.fPort, none: null }, warnings: ["w"] };
    }`;
    const product = await productFor('tti', source, { T: 'FLOAT', AT: 'STRING' });
    expect(await send(PATHS.tti, SAMPLES.tti)).toMatchObject({ status: 200, body: { stored: 2, rejected: 1 } });
    expect(await latestOf(server, product.deviceIds[0]!)).toEqual({ T: 25.5, AT: TIMES.tti });
    const [call] = await callsOf(server, product.id);
    expect(call!.run!.entries.map(({ field, code }) => [field, code])).toEqual([
      ['T', null],
      ['AT', null],
      ['FRESH', 'UNKNOWN_FIELD'],
    ]);
    const query = 'query ($id: ID!) { product(id: $id) { suggestedFields { identifier } } }';
    await expect
      .poll(async () => (await server.gql(query, { id: product.id })).product.suggestedFields)
      .toEqual([{ identifier: 'FRESH' }]);
  });

  test('errors of decodeUplink fail the call, which a mended decoder replays', async () => {
    const product = await productFor('tti', 'function decodeUplink() { return { errors: ["unknown port"] }; }', {
      T: 'FLOAT',
    });
    expect(await send(PATHS.tti, SAMPLES.tti)).toMatchObject({ status: 202, body: { error: 'DECODER_FAILED' } });
    expect((await callsOf(server, product.id))[0]!.run!.error).toMatchObject({
      kind: 'THREW',
      message: 'unknown port',
    });
    await saveDecoder(server, product.id, 'function decodeUplink(i) { return { data: { T: i.bytes.length } }; }');
    const { replayCalls } = await server.gql(
      'mutation ($id: ID!) { replayCalls(productId: $id, status: [DECODER_FAILED]) { calls stored failed } }',
      { id: product.id },
    );
    expect(replayCalls).toEqual({ calls: 1, stored: 1, failed: 0 });
    expect(await historyOf(server, product.deviceIds[0]!, 'T')).toEqual([[Date.parse(TIMES.tti) / 1000, 3]]);
  });

  test('without decoder and without decoded object the uplink is kept: 202, then replayed', async () => {
    const product = await productFor('chirpstack', null, { B: 'INTEGER' });
    const { object: _, ...bare } = CHIRPSTACK_UPLINK;
    expect(await send(PATHS.chirpstack, bare)).toMatchObject({ status: 202, body: { error: 'NO_DECODER' } });
    await saveDecoder(server, product.id, 'function Decoder(bytes) { return { B: bytes[0] }; }');
    const { replayCalls } = await server.gql(
      'mutation ($id: ID!) { replayCalls(productId: $id, status: [NO_DECODER]) { stored failed } }',
      { id: product.id },
    );
    expect(replayCalls).toEqual({ stored: 1, failed: 0 });
    expect(await latestOf(server, product.deviceIds[0]!)).toEqual({ B: 3 });
  });

  test('Particle: Decoder(payload, event) gets what was published', async () => {
    const source = `function Decoder(payload, event) {
      if (event === "temperature") return [{ field: "T", value: parseFloat(payload) }];
      return [{ field: "S", value: event + ":" + typeof payload + ":" + payload, timestamp: 1700000000 }];
    }`;
    const product = await productFor('particle', source, { T: 'FLOAT', S: 'STRING' });
    await send(PATHS.particle, { ...PARTICLE_EVENT, event: 'temperature', data: '23.02' });
    await send(PATHS.particle, { ...PARTICLE_EVENT, event: 'other', data: '{"a":1}' });
    expect(await latestOf(server, product.deviceIds[0]!)).toEqual({ T: 23.02, S: 'other:string:{"a":1}' });
    expect((await callsOf(server, product.id))[0]!.path).toBe('/integrations/particle/');
  });

  test('absent zero-valued keys: SNR 0, receipt time', async () => {
    const product = await productFor(
      'tti',
      'function Decoder(bytes, port) { return { COUNT: bytes.length, SNR: normalizedPayload.gateways[0].snr }; }',
      { COUNT: 'INTEGER', SNR: 'FLOAT' },
    );
    const { end_device_ids } = TTI_UPLINK;
    const uplink_message = { f_port: 1, frm_payload: 'AA==', rx_metadata: [{ gateway_ids: {} }] };
    expect(await send(PATHS.tti, { end_device_ids, uplink_message })).toMatchObject({
      status: 200,
      body: { stored: 2 },
    });
    expect(await latestOf(server, product.deviceIds[0]!)).toEqual({ COUNT: 1, SNR: 0 });
    const [call] = await callsOf(server, product.id);
    expect(call!.run!.entries[0]!.timestamp).toBe(call!.receivedAt);
  });

  test.each([
    ['tti', PATHS.tti, { ...TTI_UPLINK, uplink_message: { f_cnt: 3, rx_metadata: [] } }],
    ['tti', PATHS.tti, { ...TTI_UPLINK, uplink_message: { frm_payload: 'AwQ=' } }],
    ['chirpstack', PATHS.chirpstack, { ...CHIRPSTACK_UPLINK, fPort: undefined, data: undefined }],
    ['helium', PATHS.helium, { ...HELIUM_UPLINK, payload: '', port: 0 }],
  ] as [NetworkName, string, unknown][])(
    '%s: an uplink without payload is logged, and nothing is decoded',
    async (network, path, message) => {
      const product = await productFor(
        network,
        'function decodeUplink(i) { return { data: { B: i.bytes[0] || 0 } }; }',
        {
          B: 'INTEGER',
        },
      );
      expect(await send(path, message)).toMatchObject({ status: 200, body: { stored: 0, rejected: 0 } });
      expect((await callsOf(server, product.id))[0]).toMatchObject({
        status: 'NOTHING_STORED',
        httpStatus: 200,
        run: null,
      });
      expect(await latestOf(server, product.deviceIds[0]!)).toEqual({});
    },
  );

  test('ChirpStack: a payload on port 0 is decoded', async () => {
    const product = await productFor('chirpstack', 'function Decoder(bytes) { return { B: bytes[0] }; }', {
      B: 'INTEGER',
    });
    expect(await send(PATHS.chirpstack, { ...CHIRPSTACK_UPLINK, fPort: 0 })).toMatchObject({ body: { stored: 1 } });
    expect(await latestOf(server, product.deviceIds[0]!)).toEqual({ B: 3 });
  });

  test.each(['70-B3-D5-7E-D0-05-AB-CD', '70:b3:d5:7e:d0:05:ab:cd', '0x70B3D57ED005ABCD', '70b3 d57e d005 abcd'])(
    'a device with the serial number %s is found, however the network writes it',
    async (serial) => {
      const product = await productFor('tti', 'function Decoder() { return { N: 1 }; }', { N: 'INTEGER' }, serial);
      for (const dev_eui of ['70B3D57ED005ABCD', '70-b3-d5-7e-d0-05-ab-cd'])
        expect(await send(PATHS.tti, { ...TTI_UPLINK, end_device_ids: { dev_eui } })).toMatchObject({
          status: 200,
          body: { stored: 1 },
        });
      expect(await latestOf(server, product.deviceIds[0]!)).toEqual({ N: 1 });
    },
  );

  test('whatever stands behind the URL is ignored, and the token may be the password of Basic authentication', async () => {
    const product = await productFor('tti', 'function Decoder() { return { N: 1 }; }', { N: 'INTEGER' });
    const post = (path: string, authorization: string) =>
      fetch(`${server.url}/integrations/lorawan/tti${path}`, {
        method: 'POST',
        headers: { authorization },
        body: JSON.stringify(TTI_UPLINK),
      });
    for (const path of ['/uplink', '/uplink/message/?x=1', '//'])
      expect((await post(path, `Token ${token}`)).status).toBe(200);
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
    expect((await post('/', basic(`anyone:${token}`))).status).toBe(200);
    expect((await post('/', basic(`:${token}`))).status).toBe(200);
    for (const wrong of [basic(token), basic('anyone:'), basic('anyone:wrong'), 'Basic !'])
      expect((await post('/', wrong)).status).toBe(401);
    expect(await callsOf(server, product.id)).toHaveLength(5);
  });

  test.each([
    ['tti', PATHS.tti, { ...TTI_UPLINK, end_device_ids: { device_id: 'abp-1' } }, 'end_device_ids.dev_eui'],
    ['chirpstack', PATHS.chirpstack, { ...CHIRPSTACK_UPLINK, deviceInfo: {} }, 'deviceInfo.devEui'],
    ['helium', PATHS.helium, { ...HELIUM_UPLINK, dev_eui: undefined }, 'dev_eui'],
    ['particle', PATHS.particle, { ...PARTICLE_EVENT, coreid: undefined }, 'coreid'],
    ...ALL.map((network) => [network, PATHS[network], {}, ''] as const),
  ] as [NetworkName, string, unknown, string][])(
    '%s: data without an identifier is refused naming the key',
    async (_, path, message, key) => {
      const answer = await send(path, message);
      expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_BODY' } });
      expect(answer.body.detail).toContain(`${key}" is missing`);
    },
  );

  test('bodies nested deeper than a network nests are refused, not an internal error', async () => {
    await productFor('tti', 'function Decoder() { return { N: 1 }; }', { N: 'INTEGER' });
    const deep = JSON.stringify(TTI_UPLINK).replace('{', `{"deep":${'['.repeat(50_000)}${']'.repeat(50_000)},`);
    expect(await send(PATHS.tti, deep)).toMatchObject({ status: 400, body: { code: 'INVALID_BODY' } });
  });

  test('a network whose clock is far ahead loses nothing: the receipt time counts', async () => {
    const product = await productFor('helium', 'function Decoder() { return { N: 1 }; }', { N: 'INTEGER' });
    expect(await send(PATHS.helium, { ...HELIUM_UPLINK, reported_at: 15_868_685_461_234 })).toMatchObject({
      body: { stored: 1 },
    });
    const [call] = await callsOf(server, product.id);
    expect(call!.run!.entries[0]!.timestamp).toBe(call!.receivedAt);
  });

  test("a decoder's own timestamp may be later than the network's receive time", async () => {
    const source = 'function Decoder(payload) { return [{ field: "T", value: +payload, timestamp: 1700000000 }]; }';
    const product = await productFor('particle', source, { T: 'FLOAT' });
    const event = { ...PARTICLE_EVENT, published_at: '2020-09-04T11:20:30.000Z', data: '8' };
    expect(await send(PATHS.particle, event)).toMatchObject({ status: 200, body: { stored: 1, rejected: 0 } });
    expect(await historyOf(server, product.deviceIds[0]!, 'T')).toEqual([[1700000000, 8]]);
  });

  test.each([
    [
      'tti',
      'lorawan/tti/',
      { end_device_ids: TTI_UPLINK.end_device_ids, join_accept: { received_at: '2026-01-01T00:00:00Z' } },
    ],
    ['chirpstack', 'lorawan/chirpstack/?event=join', { deviceInfo: CHIRPSTACK_UPLINK.deviceInfo, devAddr: '0102' }],
    ['chirpstack', 'lorawan/chirpstack/?event=status', { deviceInfo: CHIRPSTACK_UPLINK.deviceInfo, margin: 7 }],
    ['helium', 'lorawan/helium/', { dev_eui: HELIUM_UPLINK.dev_eui, type: 'join' }],
    ['particle', 'particle/', { ...PARTICLE_EVENT, event: 'spark/status', data: 'online' }],
  ] as [NetworkName, string, unknown][])(
    '%s: what is no uplink (%s) is logged and stores nothing',
    async (network, path, message) => {
      const product = await productFor(network, 'function Decoder() { return { N: 1 }; }', { N: 'INTEGER' });
      expect(await send(path, message)).toMatchObject({ status: 200, body: { stored: 0, rejected: 0 } });
      const [call] = await callsOf(server, product.id);
      expect(call).toMatchObject({ status: 'NOTHING_STORED', httpStatus: 200, run: null, decoderVersion: null });
      expect(await latestOf(server, product.deviceIds[0]!)).toEqual({});
    },
  );

  test('only a token with RECORD for the device gets in', async () => {
    const product = await productFor('tti', 'function Decoder() { return { N: 1 }; }', { N: 'INTEGER' });
    const elsewhere = await createWorkspace(server, 'elsewhere');
    const stranger = (await createToken(server, server.adminToken, elsewhere, ['RECORD'])).secret;
    const other = await createProduct(server, { workspaceId, serialNumbers: ['other'] });
    const limited = (
      await createToken(server, server.adminToken, workspaceId, ['RECORD'], { deviceIds: other.deviceIds })
    ).secret;
    const status = async (secret: string | null) => (await send(PATHS.tti, TTI_UPLINK, secret)).status;
    expect(await status(null)).toBe(401);
    expect(await status('nonsense-nonsense-nonsense-nonsense-1')).toBe(401);
    expect(await status(readToken)).toBe(403);
    expect(await status(limited)).toBe(403);
    expect(await status(stranger)).toBe(202);
    expect(await callsOf(server, product.id)).toEqual([]);
    expect(await status(token)).toBe(200);
  });

  test('a call is tried with the device that it was from', async () => {
    const source = 'function decodeUplink() { return { data: { PORT: 1 } } }';
    const product = await productFor('tti', source, { PORT: 'FLOAT' });
    const { secret } = await createToken(server, server.adminToken, workspaceId, ['RECORD'], {
      productIds: [product.id],
    });
    expect(await send(PATHS.tti, SAMPLES.tti, secret)).toMatchObject({ status: 200 });
    const [call] = await callsOf(server, product.id);
    const { testDecoder } = await server.gql(
      'mutation ($id: ID!, $call: ID!) { testDecoder(productId: $id, callId: $call) { entries { matchedDevice { id } } } }',
      { id: product.id, call: call!.id },
    );
    expect(testDecoder.entries).toEqual([{ matchedDevice: { id: product.deviceIds[0] } }]);
  });

  test('bad messages: no JSON 400, other methods 405, unknown network 404', async () => {
    expect(await send(PATHS.tti, '\u0000\u0001')).toMatchObject({ status: 400, body: { code: 'INVALID_JSON' } });
    expect(await send(PATHS.tti, '[]')).toMatchObject({ status: 400, body: { code: 'INVALID_BODY' } });
    expect((await send('lorawan/sigfox/', TTI_UPLINK)).status).toBe(404);
    const get = await send(PATHS.tti, null, token, 'GET');
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await send('lorawan/tti', {})).status).toBe(400);
  });

  const unknownDevices = async (workspace: string | null = workspaceId, secret?: string) =>
    (
      await server.gql(
        'query ($w: ID) { unknownDevices(workspaceId: $w) { id identifier network firstSeenAt lastSeenAt seen } }',
        { w: workspace },
        secret,
      )
    )['unknownDevices'];
  const ADOPT = `mutation ($id: ID!, $product: ID!, $name: String) {
    adoptUnknownDevice(id: $id, productId: $product, name: $name, plan: "unlimited") { id name serialNumber product { id } }
  }`;

  test.each(ALL)('%s: calls of an unknown device are kept, and replayed when it is adopted', async (network) => {
    const product = await productFor(network, null, { temperature: 'FLOAT', battery: 'FLOAT', temp: 'FLOAT' }, 'other');
    const kept = { status: 202, body: { stored: 0, rejected: 0, error: 'UNKNOWN_DEVICE' } };
    expect(await send(PATHS[network], SAMPLES[network])).toMatchObject(kept);
    expect(await send(PATHS[network], SAMPLES[network])).toMatchObject(kept);
    const [unknown, ...others] = await unknownDevices();
    expect(others).toEqual([]);
    expect(unknown).toMatchObject({ identifier: IDENTIFIERS[network], network, seen: 2 });
    expect(unknown.lastSeenAt >= unknown.firstSeenAt).toBe(true);

    const { adoptUnknownDevice: device } = await server.gql(ADOPT, {
      id: unknown.id,
      product: product.id,
      name: 'Found',
    });
    expect(device).toMatchObject({ name: 'Found', serialNumber: IDENTIFIERS[network], product: { id: product.id } });
    expect(Object.keys(await latestOf(server, device.id))).toHaveLength(1);
    const calls = await callsOf(server, product.id);
    // The second is a copy of the same frame, which Particle's events do not tell.
    expect(calls.map(({ status, headers }) => [status, headers['Authorization']])).toEqual([
      [network === 'particle' ? 'STORED' : 'NOTHING_STORED', '***'],
      ['STORED', '***'],
    ]);
    expect(Date.parse(calls[1]!.receivedAt)).toBe(Date.parse(unknown.firstSeenAt));
    expect(await unknownDevices()).toEqual([]);
    const copy = { status: 200, body: { stored: network === 'particle' ? 1 : 0 } };
    expect(await send(PATHS[network], SAMPLES[network])).toMatchObject(copy);
    expect((await server.query(ADOPT, { id: unknown.id, product: product.id })).errors![0]!.extensions.code).toBe(
      'NOT_FOUND',
    );
  });

  test('adopting whose token is revoked ends before its next call; done again, it goes on', async () => {
    const CALLS = 20;
    const slow = `function Decoder() { var end = Date.now() + 60; while (Date.now() < end); return { temperature: 1 } }`;
    const product = await productFor('tti', slow, { temperature: 'FLOAT' }, 'other');
    await Promise.all(Array.from({ length: CALLS }, () => send(PATHS.tti, TTI_UPLINK)));
    const [unknown] = await unknownDevices();
    const configuring = await createToken(server, server.adminToken, workspaceId, ['READ', 'CONFIGURE']);
    const given = { id: unknown.id, product: product.id };
    const adopting = server.query(ADOPT, given, configuring.secret);
    const logged = async (): Promise<number> => (await callsOf(server, product.id)).length;
    await expect.poll(logged, { interval: 20 }).toBeGreaterThan(2);
    await server.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id: configuring.id });
    const before = await logged();
    expect((await adopting).errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');
    expect(await logged()).toBeLessThanOrEqual(before + 1);
    expect(before).toBeLessThan(CALLS);
    const { adoptUnknownDevice: device } = await server.gql(ADOPT, given);
    expect(Object.keys(await latestOf(server, device.id))).toEqual(['temperature']);
    expect(await logged()).toBeGreaterThanOrEqual(CALLS);
  });

  test('joins of unknown devices are kept too; a device made by hand takes its identifier off the list', async () => {
    const join = { end_device_ids: TTI_UPLINK.end_device_ids, join_accept: { received_at: '2026-01-01T00:00:00Z' } };
    expect(await send(PATHS.tti, join)).toMatchObject({ status: 202 });
    const [unknown] = await unknownDevices();
    const product = await productFor('tti', null, { temperature: 'FLOAT' }, '00-04-A3-0B-00-1C-05-30');
    expect(await unknownDevices()).toEqual([]);
    const { adoptUnknownDevice: device } = await server.gql(ADOPT, { id: unknown.id, product: product.id });
    expect(device.id).toBe(product.deviceIds[0]);
    expect((await callsOf(server, product.id)).map(({ status }) => status)).toEqual(['NOTHING_STORED']);
  });

  test('unknown devices are of one workspace, and no more calls are kept than the bound', async () => {
    const elsewhere = await createWorkspace(server, 'elsewhere');
    const reader = (await createToken(server, server.adminToken, elsewhere, ['READ', 'CONFIGURE'])).secret;
    await send(PATHS.tti, TTI_UPLINK);
    const [unknown] = await unknownDevices();
    expect(await unknownDevices(null, reader)).toEqual([]);
    const codeOf = async (query: string, variables: unknown, secret: string) =>
      (await server.query(query, variables, secret)).errors?.[0]?.extensions.code;
    expect(await codeOf('query ($w: ID) { unknownDevices(workspaceId: $w) { id } }', { w: workspaceId }, reader)).toBe(
      'NOT_FOUND',
    );
    const product = await createProduct(server, { workspaceId: elsewhere });
    expect(await codeOf(ADOPT, { id: unknown.id, product: product.id }, reader)).toBe('NOT_FOUND');
    expect(await codeOf(ADOPT, { id: unknown.id, product: product.id }, server.adminToken)).toBe('BAD_USER_INPUT');
    await Promise.all(Array.from({ length: 110 }, () => send(PATHS.tti, TTI_UPLINK)));
    expect((await unknownDevices())[0].seen).toBe(111);
    const own = await productFor('tti', null, { temperature: 'FLOAT' }, 'other');
    await server.gql(ADOPT, { id: unknown.id, product: own.id });
    expect(await callsOf(server, own.id)).toHaveLength(100);
  });

  describe('the test tool', () => {
    const TEST = `mutation ($id: ID!, $source: String, $request: DecoderRequestInput, $uplink: UplinkInput) {
      testDecoder(productId: $id, source: $source, request: $request, uplink: $uplink) {
        ok output error { kind message } entries {
          field value code timestamp matchedDevice { id } suggestedField { identifier type name unit }
        }
      }
    }`;
    const CODEC = `function decodeUplink({ bytes, fPort, recvTime, variables }) {
      return { data: { T: (bytes[0] << 8 | bytes[1]) / 100, PORT: fPort, AT: recvTime.toISOString(), V: variables.A || 'none',
        fresh: { value: 3, unit: 'V', displayName: 'Battery' } } };
    }`;
    const codecProduct = () => productFor('tti', CODEC, { T: 'FLOAT', PORT: 'INTEGER', AT: 'STRING', V: 'STRING' });

    test.each(['0866', '08 66', '0x08 0x66', '08-66', 'CGY='])('takes the bytes %s and a port', async (bytes) => {
      const product = await codecProduct();
      const uplink = { bytes, port: 5, recvTime: '2026-01-01T00:00:00.000Z', variables: { A: 7 } };
      const { testDecoder: run } = await server.gql(TEST, { id: product.id, uplink });
      expect(run.output.data).toMatchObject({ T: 21.5, PORT: 5, AT: '2026-01-01T00:00:00.000Z', V: '7' });
      expect(run.entries[0]).toMatchObject({
        field: 'T',
        code: null,
        timestamp: '2026-01-01T00:00:00.000Z',
        matchedDevice: { id: product.deviceIds[0] },
        suggestedField: null,
      });
      expect(run.entries[4]).toMatchObject({
        code: 'UNKNOWN_FIELD',
        suggestedField: { identifier: 'fresh', type: 'FLOAT', name: 'Battery', unit: 'V' },
      });
      expect(await latestOf(server, product.deviceIds[0]!)).toEqual({});
    });

    test('refuses bytes that are none, and names what is wrong', async () => {
      const { id } = await codecProduct();
      const codeOf = async (uplink: unknown) => {
        const [error] = (await server.query(TEST, { id, uplink })).errors!;
        return `${error!.extensions.code} ${error!.message}`;
      };
      expect(await codeOf({ bytes: 'xyz!' })).toMatch(/BAD_USER_INPUT uplink.bytes/);
      expect(await codeOf({ bytes: '00', port: 300 })).toMatch(/BAD_USER_INPUT uplink.port/);
      expect(await codeOf({ bytes: '00', variables: [1] })).toMatch(/BAD_USER_INPUT uplink.variables/);
      expect(await codeOf({ bytes: '00', deviceId: 'nobody' })).toMatch(/NOT_FOUND/);
    });

    test("says that a network's message stands at the webhook's door", async () => {
      const product = await createProduct(server, {
        workspaceId,
        input: { decoder: 'function Decoder(bytes, port) { return { T: bytes[0].x.y }; }' },
      });
      const request = { body: JSON.stringify(TTI_UPLINK) };
      const { testDecoder: run } = await server.gql(TEST, { id: product.id, request });
      expect(run.error.message).toContain(
        'This is a message of The Things Stack: point it at /integrations/lorawan/tti/',
      );
      const { testDecoder: other } = await server.gql(TEST, { id: product.id, request: { body: '{"a":1}' } });
      expect(other.error.message).not.toContain('point it at');
    });

    test('names the function that is missing', async () => {
      const { id } = await codecProduct();
      const source = 'function decode() { return {}; }';
      const { testDecoder: run } = await server.gql(TEST, { id, source, uplink: { bytes: '00' } });
      expect(run.error).toMatchObject({
        kind: 'NO_DECODER_FUNCTION',
        message: expect.stringContaining('decodeUplink'),
      });
    });

    test('examples nested 50,000 levels deep are refused, not an internal error', async () => {
      const { id } = await codecProduct();
      const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
      for (const [headers, expected] of [
        [deep, '[]'],
        ['{}', deep],
      ]) {
        const variables = `{"id":"${id}","h":${headers},"e":${expected}}`;
        const query =
          'mutation ($id: ID!, $h: JSON, $e: JSON!) { addDecoderExample(productId: $id, name: "x", request: { headers: $h }, expected: $e) { id } }';
        const response = await fetch(`${server.url}/graphql`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', authorization: `Token ${server.adminToken}` },
          body: `{"query":${JSON.stringify(query)},"variables":${variables}}`,
        });
        expect(response.status).toBeLessThan(500);
        const answer = (await response.json()) as { errors: { extensions: { code: string } }[] };
        expect(answer.errors[0]!.extensions.code).not.toBe('INTERNAL_SERVER_ERROR');
      }
    });
  });

  test.each(['http://[::1', 'http://[::1/integrations/lorawan/tti/', 'http://%', '//[::1'])(
    'the request target %s is refused, not an internal error',
    async (target) => {
      const { port } = new URL(server.url);
      const line = await new Promise<string>((resolve, reject) => {
        const socket = connect(Number(port), '127.0.0.1', () =>
          socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
        );
        socket.once('data', (data) => resolve(data.toString().split('\r\n')[0]!));
        socket.once('error', reject);
      });
      expect(line).toMatch(/^HTTP\/1\.1 4\d\d /);
    },
  );

  test('entries may name the sender, however they write its identifier', async () => {
    const source = `function Decoder() { return [
      { device: "0004a30b001c0530", field: "N", value: 1 }, { device: "00-04-A3-0B-00-1C-05-30", field: "M", value: 2 },
      { device: "0004a30b001c0531", field: "N", value: 3 } ]; }`;
    const product = await productFor('tti', source, { N: 'INTEGER', M: 'INTEGER' });
    expect(await send(PATHS.tti, TTI_UPLINK)).toMatchObject({ status: 200, body: { stored: 2, rejected: 1 } });
    expect(await latestOf(server, product.deviceIds[0]!)).toEqual({ N: 1, M: 2 });
  });

  test("the test tool matches the product's own device", async () => {
    const fields = { N: 'INTEGER' };
    const product = await productFor('tti', 'function Decoder() { return { N: 1 }; }', fields);
    const { testDecoder } = await server.gql(
      `mutation ($id: ID!, $body: String!) { testDecoder(productId: $id, request: { body: $body }) {
         entries { code matchedDevice { id } } } }`,
      { id: product.id, body: JSON.stringify(TTI_UPLINK) },
    );
    expect(testDecoder.entries).toEqual([{ code: null, matchedDevice: { id: product.deviceIds[0] } }]);
  });

  test('a product has at most 100 examples', async () => {
    const { id } = await productFor('tti', null, { N: 'INTEGER' });
    const add = (names: string[]) =>
      server.query(
        `mutation ($id: ID!) { ${names.map((name) => `${name}: addDecoderExample(productId: $id, name: "${name}", request: { body: "{}" }, expected: []) { id }`).join('\n')} }`,
        { id },
      );
    for (let from = 0; from < 100; from += 20)
      expect((await add(Array.from({ length: 20 }, (_, at) => `e${from + at}`))).errors).toBeUndefined();
    expect((await add(['e100'])).errors![0]!.message).toContain('at most 100 examples');
  });

  test('a second device with the EUI of one is refused', async () => {
    await productFor('tti', null, { T: 'FLOAT' });
    await expect(productFor('tti', null, { T: 'FLOAT' })).rejects.toThrow('CONFLICT');
  });

  test("the test tool takes a network's message as it is", async () => {
    const product = await productFor('tti', 'function Decoder(bytes) { return { N: bytes.length, X: 1 }; }', {
      N: 'INTEGER',
    });
    const { testDecoder } = await server.gql(
      `mutation ($id: ID!, $body: String!) { testDecoder(productId: $id, request: { body: $body }) {
         ok entries { field code matchedDevice { id } } } }`,
      { id: product.id, body: JSON.stringify(TTI_UPLINK) },
    );
    expect(testDecoder).toEqual({
      ok: true,
      entries: [
        { field: 'N', code: null, matchedDevice: { id: product.deviceIds[0] } },
        { field: 'X', code: 'UNKNOWN_FIELD', matchedDevice: { id: product.deviceIds[0] } },
      ],
    });
    expect(await latestOf(server, product.deviceIds[0]!)).toEqual({});
    expect(await callsOf(server, product.id)).toEqual([]);
  });
});
