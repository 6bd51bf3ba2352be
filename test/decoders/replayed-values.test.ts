import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  createDatabase,
  createProduct,
  EITHER_DATABASE,
  startServer,
  type TestDatabase,
  type TestProduct,
  type TestServer,
} from '../support/server.ts';
import { callsOf, callWebhook, historyOf, latestOf, saveDecoder } from './webhook-client.ts';

const COUNTS = 'added changed unchanged removed kept unknown';
const NONE = { added: 0, changed: 0, unchanged: 0, removed: 0, kept: 0, unknown: 0 };
/** A body is a list of [field, value, hour]; the parts are JavaScript. */
const shifted = (hours: number, { device = '"r1"', field = 'field', value = 'value', wanted = 'true' } = {}) =>
  `function Decoder(r) { return JSON.parse(r.body).filter(([field, value]) => ${wanted}).map(([field, value, hour]) =>
     ({ device: ${device}, field: ${field}, value: ${value}, timestamp: 1790000000 + (hour + ${hours}) * 3600 })) }`;
const at = (hour: number): number => 1_790_000_000 + hour * 3_600;

describe.each(EITHER_DATABASE)('what a replay makes of the values of the run before, on %s', (database) => {
  let stored: TestDatabase;
  let server: TestServer;
  let product: TestProduct;
  let deviceId: string;
  beforeAll(async () => {
    stored = await createDatabase(database);
    server = await startServer({ database: stored });
  });
  afterAll(async () => {
    await server?.stop();
    await stored?.drop();
  });
  beforeEach(async () => {
    const fields = { t: 'FLOAT', u: 'FLOAT', s: 'STRING' };
    product = await createProduct(server, { fields, serialNumbers: ['r1', 'r2'] });
    deviceId = product.deviceIds[0]!;
    await saveDecoder(server, product.id, shifted(0));
  });

  const send = async (...bodies: [field: string, value: unknown, hour: number][][]): Promise<void> => {
    for (const body of bodies) await callWebhook(server, product, { body: JSON.stringify(body) });
  };
  const replay = async (args: Record<string, unknown> = {}): Promise<Record<string, number>> => {
    const { replayCalls } = await server.gql(
      `mutation ($id: ID!, $dryRun: Boolean, $callIds: [ID!]) {
         replayCalls(productId: $id, dryRun: $dryRun, callIds: $callIds) { ${COUNTS} } }`,
      { id: product.id, ...args },
    );
    return replayCalls;
  };
  const hours = async (field = 't', device = deviceId): Promise<[number, unknown][]> =>
    (await historyOf(server, device, field)).map(([time, value]) => [(time - at(0)) / 3_600, value]);
  const ids = async (): Promise<string[]> => (await callsOf(server, product.id)).map(({ id }) => id).reverse();
  const record = (field: string, value: unknown, hour: number) =>
    server.gql(
      'mutation ($id: ID!, $entries: [EntryInput!]!) { recordMeasurements(deviceId: $id, entries: $entries) { stored } }',
      { id: deviceId, entries: [{ field, value, timestamp: new Date(at(hour) * 1_000).toISOString() }] },
    );
  const sql = async (text: string): Promise<void> => {
    if (database === 'sqlite') {
      const db = new Sqlite(stored.url.slice('sqlite:'.length));
      db.exec(text);
      db.close();
      return;
    }
    const client = new pg.Client({ connectionString: stored.url });
    await client.connect();
    await client.query(text);
    await client.end();
  };

  test('mended times take the place of the wrong ones; the dry run says the same, a second run changes nothing', async () => {
    await send([['t', 1, 10]], [['t', 2, 11]], [['t', 3, 12]]);
    await saveDecoder(server, product.id, shifted(-1));
    const counts = { ...NONE, added: 1, changed: 2, removed: 1 };
    expect(await replay({ dryRun: true })).toEqual(counts);
    expect(await hours()).toEqual([[10, 1], [11, 2], [12, 3]]); // oxfmt-ignore
    expect(await replay()).toEqual(counts);
    expect(await hours()).toEqual([[9, 1], [10, 2], [11, 3]]); // oxfmt-ignore
    expect(await latestOf(server, deviceId)).toEqual({ t: 3 });
    for (const dryRun of [true, false]) expect(await replay({ dryRun })).toEqual({ ...NONE, unchanged: 3 });
    expect(await hours()).toEqual([[9, 1], [10, 2], [11, 3]]); // oxfmt-ignore
    await saveDecoder(server, product.id, shifted(0));
    expect(await replay()).toEqual(counts);
    expect(await hours()).toEqual([[10, 1], [11, 2], [12, 3]]); // oxfmt-ignore
  });

  test.each([1, -1, 3])(
    'times shifted by %i hours, with values that are all the same, in one replay and in many',
    async (by) => {
      const count = process.env['INLET_TESTS'] === 'nightly' ? 12 : 6;
      await send(...Array.from({ length: count }, (_, n): ['t', number, number][] => [['t', 5, n]]));
      await saveDecoder(server, product.id, shifted(by));
      const expected = Array.from({ length: count }, (_, n) => [n + by, 5]);
      const overlap = count - Math.abs(by);
      const counts = { ...NONE, added: count - overlap, unchanged: overlap, removed: count - overlap };
      expect(await replay({ dryRun: true })).toEqual(counts);
      expect(await replay()).toEqual(counts);
      expect(await hours()).toEqual(expected);
      // Back again, each call in a replay of its own.
      await saveDecoder(server, product.id, shifted(0));
      for (const id of await ids()) await replay({ callIds: [id] });
      expect(await hours()).toEqual(expected.map(([hour]) => [hour! - by, 5]));
      await saveDecoder(server, product.id, shifted(2 * by));
      for (const id of await ids()) await replay({ callIds: [id] });
      expect(await hours()).toEqual(expected.map(([hour]) => [hour! + by, 5]));
      await saveDecoder(server, product.id, 'function Decoder() {}');
      expect(await replay()).toEqual({ ...NONE, removed: count });
      expect(await hours()).toEqual([]);
    },
  );

  test('times shifted over those of other calls end as if all had been run from nothing', async () => {
    await send([['t', 1, 10], ['u', 7, 10]], [['t', 2, 11]], [['t', 3, 12], ['u', 8, 12]]); // oxfmt-ignore
    await saveDecoder(server, product.id, shifted(1));
    expect(await replay()).toEqual({ ...NONE, added: 3, changed: 2, removed: 3 });
    expect(await hours()).toEqual([[11, 1], [12, 2], [13, 3]]); // oxfmt-ignore
    expect(await hours('u')).toEqual([[11, 7], [13, 8]]); // oxfmt-ignore
  });

  test('a value that another door has written since stays, and is counted', async () => {
    await send([['t', 1, 10]], [['t', 2, 11]], [['t', 3, 12]]);
    await record('t', 99, 12);
    // A value beside it, in the same moment, is none of the call's.
    await record('u', 5, 10);
    await saveDecoder(server, product.id, shifted(-20));
    for (const dryRun of [true, false])
      expect(await replay({ dryRun })).toEqual({ ...NONE, added: 3, removed: 2, kept: 1 });
    expect(await hours()).toEqual([[-10, 1], [-9, 2], [-8, 3], [12, 99]]); // oxfmt-ignore
    expect(await hours('u')).toEqual([[10, 5]]);
  });

  test('a value that was corrected by hand outlives replays that say what they said, or something else', async () => {
    await send([['t', 1, 10]], [['t', 2, 11]]);
    await record('t', 50, 10);
    expect(await replay()).toEqual({ ...NONE, unchanged: 1, kept: 1 });
    await saveDecoder(server, product.id, shifted(0, { value: 'value * 10' }));
    expect(await replay()).toEqual({ ...NONE, changed: 1, kept: 1 });
    expect(await hours()).toEqual([[10, 50], [11, 20]]); // oxfmt-ignore
    expect(await replay()).toEqual({ ...NONE, unchanged: 1, kept: 1 });
  });

  test('of two calls of one key the later one counts, whichever is replayed', async () => {
    await send([['t', 5, 10]], [['t', 7, 10]]);
    const [first, second] = await ids();
    expect(await replay({ callIds: [first] })).toEqual({ ...NONE, kept: 1 });
    expect(await hours()).toEqual([[10, 7]]);
    // What the later one does not say any more gives way to what the earlier one says.
    await saveDecoder(server, product.id, shifted(0, { wanted: 'value < 7' }));
    const counts = { ...NONE, changed: 1 };
    expect(await replay({ dryRun: true })).toEqual(counts);
    expect(await replay()).toEqual(counts);
    expect(await hours()).toEqual([[10, 5]]);
    await saveDecoder(server, product.id, shifted(0));
    await replay({ callIds: [second] });
    expect(await hours()).toEqual([[10, 7]]);
  });

  test('a message that came twice leaves nothing behind', async () => {
    await send([['t', 5, 10]], [['t', 5, 10]]);
    await saveDecoder(server, product.id, shifted(1));
    expect(await replay()).toEqual({ ...NONE, added: 1, removed: 1 });
    expect(await hours()).toEqual([[11, 5]]);
    await saveDecoder(server, product.id, shifted(2));
    expect(await replay()).toEqual({ ...NONE, added: 1, removed: 1 });
    expect(await hours()).toEqual([[12, 5]]);
  });

  test('a run that fails, and a field whose entry is refused, remove nothing; what is mended then does', async () => {
    await send([['t', 1, 10], ['u', 2, 10]]); // oxfmt-ignore
    await saveDecoder(server, product.id, 'function Decoder() { throw new Error("no") }');
    expect(await replay()).toEqual(NONE);
    expect(await hours()).toEqual([[10, 1]]);
    await saveDecoder(server, product.id, shifted(1, { value: 'field === "t" ? "x" : value' }));
    expect(await replay()).toEqual({ ...NONE, added: 1, removed: 1, kept: 1 });
    expect(await hours()).toEqual([[10, 1]]);
    expect(await hours('u')).toEqual([[11, 2]]);
    await saveDecoder(server, product.id, shifted(2));
    expect(await replay()).toEqual({ ...NONE, added: 2, removed: 2 });
    expect(await hours()).toEqual([[12, 1]]);
    await saveDecoder(server, product.id, shifted(3, { device: '"nobody"' }));
    expect(await replay()).toEqual({ ...NONE, kept: 2 });
  });

  test('another field, another device, texts, and nothing at all', async () => {
    const long = 'ä'.repeat(300);
    await send([['t', 1, 10], ['s', long, 10], ['s', 'short', 11]]); // oxfmt-ignore
    await saveDecoder(server, product.id, shifted(0, { field: 'field === "t" ? "u" : field' }));
    expect(await replay()).toEqual({ ...NONE, added: 1, unchanged: 2, removed: 1 });
    expect([await hours(), await hours('u')]).toEqual([[], [[10, 1]]]);
    await saveDecoder(server, product.id, shifted(0, { device: '"r2"' }));
    expect(await replay()).toEqual({ ...NONE, added: 3, removed: 3 });
    expect([await hours('u'), await hours('s')]).toEqual([[], []]);
    expect(await hours('s', product.deviceIds[1])).toEqual([[10, long], [11, 'short']]); // oxfmt-ignore
    await saveDecoder(server, product.id, 'function Decoder() { return [] }');
    expect(await replay()).toEqual({ ...NONE, removed: 3 });
    expect(await latestOf(server, product.deviceIds[1]!)).toEqual({});
  });

  test('what is gone by now, value, field or device, is no hindrance', async () => {
    await send([['t', 1, 10], ['u', 2, 10]], [['t', 3, 11]]); // oxfmt-ignore
    await server.gql(
      'mutation ($id: ID!, $from: DateTime!, $to: DateTime!) { deleteMeasurements(deviceId: $id, from: $from, to: $to) { measurements } }',
      { id: deviceId, from: new Date(at(11) * 1_000).toISOString(), to: new Date(at(12) * 1_000).toISOString() },
    );
    const { product: shown } = await server.gql(
      'query ($id: ID!) { product(id: $id) { field(identifier: "u") { id } } }',
      {
        id: product.id,
      },
    );
    await server.gql('mutation ($id: ID!) { removeField(id: $id) }', { id: shown.field.id });
    await saveDecoder(server, product.id, shifted(1));
    expect(await replay()).toEqual({ ...NONE, added: 2, removed: 1 });
    expect(await hours()).toEqual([[11, 1], [12, 3]]); // oxfmt-ignore
    await server.gql('mutation ($ids: [ID!]!) { deleteDevices(ids: $ids) }', { ids: [deviceId] });
    expect((await replay()).added).toBe(0);
  });

  test('calls of an older version know nothing: nothing of theirs goes, until they were replayed once', async () => {
    await send([['t', 1, 10]], [['t', 2, 12]]);
    await sql('UPDATE webhook_call SET stored = NULL');
    await saveDecoder(server, product.id, shifted(1));
    for (const dryRun of [true, false]) expect(await replay({ dryRun })).toEqual({ ...NONE, added: 2, unknown: 2 });
    expect(await hours()).toEqual([[10, 1], [11, 1], [12, 2], [13, 2]]); // oxfmt-ignore
    await saveDecoder(server, product.id, shifted(3));
    expect(await replay()).toEqual({ ...NONE, added: 1, changed: 1, removed: 1 });
    expect(await hours()).toEqual([[10, 1], [12, 2], [13, 1], [15, 2]]); // oxfmt-ignore
  });

  test('thousands of values of one call are replaced', async () => {
    const many = `function Decoder(r) { return Array.from({ length: 3000 }, (_, n) =>
      ({ device: n % 2 ? 'r1' : 'r2', field: 't', value: n, timestamp: 1790000000 + n * 60 + SHIFT })) }`;
    await saveDecoder(server, product.id, many.replace('SHIFT', '0'));
    await callWebhook(server, product, { body: '' });
    await saveDecoder(server, product.id, many.replace('SHIFT', '30'));
    const counts = { ...NONE, added: 3_000, removed: 3_000 };
    expect(await replay({ dryRun: true })).toEqual(counts);
    expect(await replay()).toEqual(counts);
    expect((await historyOf(server, deviceId, 't')).map(([time]) => time)).toEqual(
      Array.from({ length: 1_500 }, (_, n) => 1_790_000_000 + (2 * n + 1) * 60 + 30),
    );
    expect(await replay()).toEqual({ ...NONE, unchanged: 3_000 });
  });

  test('messages of an unknown device that it was adopted with are replaced like any', async () => {
    const body = (hour: number) => ({
      deviceInfo: { devEui: '70b3d57ed0007777' },
      fPort: 2,
      data: 'AQI=',
      object: { list: 1 },
      rxInfo: [],
      time: new Date(at(hour) * 1_000).toISOString(),
    });
    const native = await createProduct(server, {
      fields: { t: 'FLOAT' },
      serialNumbers: [],
      input: {
        deviceType: 'LORAWAN',
        decoder: 'function Decoder(bytes, port) { return [{ field: "t", value: bytes[0], timestamp: 1790000000 }] }',
      },
    });
    const uplink = await fetch(`${server.url}/integrations/lorawan/chirpstack/?event=up`, {
      method: 'POST',
      headers: { authorization: `Token ${server.adminToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body(10)),
    });
    expect(uplink.status).toBe(202);
    const { unknownDevices } = await server.gql('{ unknownDevices { id identifier } }');
    const unknown = unknownDevices.find(({ identifier }: { identifier: string }) => identifier === '70b3d57ed0007777');
    const { adoptUnknownDevice } = await server.gql(
      'mutation ($id: ID!, $p: ID!) { adoptUnknownDevice(id: $id, productId: $p) { id } }',
      { id: unknown.id, p: native.id },
    );
    expect(await hours('t', adoptUnknownDevice.id)).toEqual([[0, 1]]);
    await saveDecoder(
      server,
      native.id,
      'function Decoder(bytes, port) { return [{ field: "t", value: bytes[0], timestamp: 1790003600 }] }',
    );
    product = native;
    expect(await replay()).toEqual({ ...NONE, added: 1, removed: 1 });
    expect(await hours('t', adoptUnknownDevice.id)).toEqual([[1, 1]]);
  });
});
