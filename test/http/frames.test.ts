import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { callsOf, historyOf, saveDecoder } from '../decoders/webhook-client.ts';
import {
  createDatabase,
  createProduct,
  DATABASES,
  readAnswer,
  type RestAnswer,
  startServer,
  type TestDatabase,
  type TestServer,
} from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';

const redisUrl = inject('redisUrl');
const STORED = { stored: 1, rejected: 0 };
const COPY = { stored: 0, rejected: 0 };
const FIELDS = { temperature: 'FLOAT' };

type Network = 'tti' | 'chirpstack' | 'helium' | 'actility';
interface Frame {
  counter: number;
  bytes?: number[];
  second?: number;
  session?: string;
}
/** A time of its own, so that no key of a measurement hides a second value. */
const at = (second: number): string => new Date(Date.now() - 60_000 + second * 1000).toISOString();
const MESSAGES: Record<Network, (serial: string, frame: Required<Frame>) => unknown> = {
  tti: (serial, { counter, bytes, second, session }) => ({
    end_device_ids: { dev_eui: serial, dev_addr: session },
    uplink_message: {
      f_cnt: counter,
      f_port: 1,
      frm_payload: Buffer.from(bytes).toString('base64'),
      decoded_payload: { temperature: bytes[0] },
      received_at: at(second),
    },
  }),
  chirpstack: (serial, { counter, bytes, second, session }) => ({
    deviceInfo: { devEui: serial },
    devAddr: session,
    time: at(second),
    rxInfo: [{ nsTime: at(second) }],
    fCnt: counter,
    fPort: 1,
    data: Buffer.from(bytes).toString('base64'),
    object: { temperature: bytes[0] },
  }),
  helium: (serial, { counter, bytes, second, session }) => ({
    dev_eui: serial,
    devaddr: session,
    fcnt: counter,
    port: 1,
    payload: Buffer.from(bytes).toString('base64'),
    decoded: { payload: { temperature: bytes[0] } },
    reported_at: Date.parse(at(second)),
  }),
  actility: (serial, { counter, bytes, second, session }) => ({
    DevEUI_uplink: {
      DevEUI: serial,
      DevAddr: session,
      Time: at(second),
      FPort: '1',
      FCntUp: String(counter),
      payload_hex: Buffer.from(bytes).toString('hex'),
      payload: { temperature: bytes[0] },
    },
  }),
};
const NETWORKS = Object.keys(MESSAGES) as Network[];
const eui = (): string => randomBytes(8).toString('hex');

async function send(server: TestServer, network: Network, serial: string, frame: Frame): Promise<RestAnswer> {
  const message = MESSAGES[network](serial, { bytes: [21], second: 0, session: '01020304', ...frame });
  const response = await fetch(`${server.url}/integrations/lorawan/${network === 'actility' ? 'tti' : network}/`, {
    method: 'POST',
    headers: { Authorization: `Token ${ADMIN_TOKEN}` },
    body: JSON.stringify(message),
  });
  return readAnswer(response);
}

async function callLog(server: TestServer, id: string): Promise<[status: string, reason: string | null][]> {
  const { product } = await server.gql<any>(
    'query ($id: ID!) { product(id: $id) { calls(first: 50) { edges { node { status reason } } } } }',
    { id },
  );
  return product.calls.edges.map(({ node }: any) => [node.status, node.reason]).reverse();
}

describe('copies of a frame', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database: 'sqlite' });
  });
  afterAll(() => server?.stop());

  const product = async (decoder: string | null = null) => {
    const serial = eui();
    const input = { deviceType: 'LORAWAN', ...(decoder === null ? {} : { decoder }) };
    const { id, deviceIds } = await createProduct(server, { fields: FIELDS, serialNumbers: [serial], input });
    const values = async () => (await historyOf(server, deviceIds[0]!, 'temperature')).map(([, value]) => value);
    return { id, serial, values };
  };

  test.each(NETWORKS)(
    '%s: the same frame is stored once, and logged as a duplicate that names the first',
    async (network) => {
      const { id, serial, values } = await product();
      expect((await send(server, network, serial, { counter: 7 })).body).toEqual(STORED);
      const second = await send(server, network, serial, { counter: 7, second: 4 });
      expect([second.status, second.body]).toEqual([200, COPY]);
      expect(await values()).toEqual([21]);
      const [first] = (await callsOf(server, id)).reverse();
      const log = await callLog(server, id);
      expect(log).toEqual([
        ['STORED', null],
        ['NOTHING_STORED', expect.stringMatching(/^Duplicate: /)],
      ]);
      expect(log[1]![1]).toContain(first!.id);
    },
  );

  test.each([
    ['counter', { counter: 8 }],
    ['payload, as after a reset of the counter', { counter: 7, bytes: [22] }],
    ['session', { counter: 7, session: '0a0b0c0d' }],
  ])('another %s is another frame', async (_, frame) => {
    const { serial, values } = await product();
    await send(server, 'chirpstack', serial, { counter: 7 });
    expect((await send(server, 'chirpstack', serial, { ...frame, second: 1 })).body).toEqual(STORED);
    expect(await values()).toHaveLength(2);
  });

  test('so is one of another device, and each without a counter', async () => {
    const [one, other] = [await product(), await product()];
    await send(server, 'tti', one.serial, { counter: 7 });
    expect((await send(server, 'tti', other.serial, { counter: 7 })).body).toEqual(STORED);
    const bare = { deviceInfo: { devEui: one.serial }, fPort: 1, data: 'AQ==', object: { temperature: 3 } };
    for (const second of [1, 2]) {
      const message = { ...bare, time: at(second), rxInfo: [{ nsTime: at(second) }] };
      const response = await fetch(`${server.url}/integrations/lorawan/chirpstack/?event=up`, {
        method: 'POST',
        headers: { Authorization: `Token ${ADMIN_TOKEN}` },
        body: JSON.stringify(message),
      });
      expect(await response.json()).toEqual(STORED);
    }
    expect(await one.values()).toEqual([21, 3, 3]);
  });

  test('many at once are stored once', async () => {
    const { serial, values } = await product();
    const copies = Array.from({ length: 20 }, (_, second) => send(server, 'helium', serial, { counter: 9, second }));
    const answers = (await Promise.all(copies)).map(({ body }) => body.stored);
    expect(answers.sort()).toEqual([...Array(19).fill(0), 1]);
    expect(await values()).toEqual([21]);
  });

  test('a first copy of which nothing was stored makes no duplicate of the second', async () => {
    const { id, serial, values } = await product('function Decoder() { throw new Error("not yet") }');
    expect((await send(server, 'tti', serial, { counter: 7 })).body.error).toBe('DECODER_FAILED');
    await saveDecoder(server, id, 'function Decoder(bytes) { return { temperature: bytes[0] } }');
    expect((await send(server, 'tti', serial, { counter: 7, second: 1 })).body).toEqual(STORED);
    expect(await values()).toEqual([21]);
  });

  test('a replay leaves duplicates what they are', async () => {
    const { id, serial, values } = await product();
    for (const second of [0, 1]) await send(server, 'chirpstack', serial, { counter: 3, second });
    const { replayCalls } = await server.gql<any>(
      'mutation ($id: ID!) { replayCalls(productId: $id) { calls stored rejected failed } }',
      { id },
    );
    expect(replayCalls).toMatchObject({ calls: 2, stored: 1, failed: 0 });
    expect(await values()).toEqual([21]);
    expect((await callLog(server, id))[1]![1]).toMatch(/^Duplicate/);
  });

  test('copies that were kept of an unknown device are stored once when it is adopted', async () => {
    const { id } = await product();
    const serial = eui();
    for (const second of [0, 1]) expect((await send(server, 'tti', serial, { counter: 5, second })).status).toBe(202);
    const { unknownDevices } = await server.gql<any>('{ unknownDevices { id identifier } }');
    const unknown = unknownDevices.find(({ identifier }: any) => identifier === serial);
    const { adoptUnknownDevice: device } = await server.gql<any>(
      'mutation ($id: ID!, $p: ID!) { adoptUnknownDevice(id: $id, productId: $p, plan: "unlimited") { id } }',
      { id: unknown.id, p: id },
    );
    expect(await historyOf(server, device.id, 'temperature')).toHaveLength(1);
  });
});

describe.each(DATABASES)('copies of a frame over a restart, on %s', (name) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase(name);
  });
  afterAll(() => database?.drop());

  test('the log tells', async () => {
    const serial = eui();
    const before = await startServer({ database });
    const { id, deviceIds } = await createProduct(before, { fields: FIELDS, serialNumbers: [serial] });
    expect((await send(before, 'helium', serial, { counter: 7 })).body).toEqual(STORED);
    await before.stop();
    const after = await startServer({ database });
    try {
      expect((await send(after, 'helium', serial, { counter: 7, second: 2 })).body).toEqual(COPY);
      expect((await send(after, 'helium', serial, { counter: 8, second: 3 })).body).toEqual(STORED);
      expect(await historyOf(after, deviceIds[0]!, 'temperature')).toHaveLength(2);
      expect((await callLog(after, id)).map(([status]) => status)).toEqual(['STORED', 'NOTHING_STORED', 'STORED']);
    } finally {
      await after.stop();
    }
  });
});

describe.skipIf(redisUrl === null)('copies of a frame at two nodes', () => {
  test('many at both at once are stored once', async () => {
    const database = await createDatabase('postgres');
    const env = { REDIS_URL: redisUrl! };
    const nodes = [await startServer({ database, env }), await startServer({ database, env })];
    try {
      const serial = eui();
      const { deviceIds } = await createProduct(nodes[0]!, { fields: FIELDS, serialNumbers: [serial] });
      const copies = Array.from({ length: 20 }, (_, second) =>
        send(nodes[second % 2]!, 'chirpstack', serial, { counter: 9, second }),
      );
      const answers = (await Promise.all(copies)).map(({ body }) => body.stored);
      expect(answers.sort()).toEqual([...Array(19).fill(0), 1]);
      expect(await historyOf(nodes[1]!, deviceIds[0]!, 'temperature')).toHaveLength(1);
    } finally {
      for (const node of nodes) await node.stop();
      await database.drop();
    }
  });
});
