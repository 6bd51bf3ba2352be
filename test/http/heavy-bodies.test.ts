import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createProduct, EITHER_DATABASE, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { piecesTogether, posting, type Sender } from '../support/all-at-once.ts';

const FORM = 'application/x-www-form-urlencoded';
const EUI = '70b3d57ed0000001';
/** Of a device that nobody has asked for: all who do wait for the same look-up. */
const UNASKED_EUI = '70b3d57ed0000002';
const PLACE = `${'1'.repeat(95)},${'1'.repeat(95)}`;

function many<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

function uplink(decoded: unknown, more: object = {}): object {
  return { end_device_ids: { dev_eui: EUI }, uplink_message: { decoded_payload: decoded, f_port: 1, ...more } };
}

function nested(levels: number): string {
  return '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
}

const objects = (eui: string): string =>
  `{"end_device_ids":{"dev_eui":"${eui}"},"uplink_message":{"decoded_payload":{"x":[${many(260, () => nested(190)).join()}]}}}`;
const VARIABLES = JSON.stringify({
  query: '{ __typename }',
  variables: { list: many(30_000, (at) => ({ name: `n${at}`, at })) },
});
/** A megabyte of keys that are all different took 100 to 290 ms to parse. */
const RICH = many(7_500, (at) => `{${many(10, (i) => `"${(at * 10 + i).toString(36)}":0`).join()}}`).join();

describe.each(EITHER_DATABASE)('the heaviest bodies on %s', (name) => {
  let server: TestServer;
  let product: TestProduct;
  let decoding: TestProduct;
  beforeAll(async () => {
    server = await startServer({ database: name, watched: true });
    const fields = { place: 'GEOLOCATION', label: 'STRING', temperature: 'FLOAT' };
    product = await createProduct(server, { fields, serialNumbers: [EUI] });
    await createProduct(server, { serialNumbers: [UNASKED_EUI] });
    decoding = await createProduct(server, {});
    await server.gql('mutation ($p: ID!) { saveDecoder(productId: $p, source: "function Decoder() {}") { version } }', {
      p: decoding.id,
    });
  });
  afterAll(() => server.stop());

  async function post(path: string, body: unknown, type = 'application/json'): Promise<number> {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: { 'Content-Type': type, Authorization: `Token ${ADMIN_TOKEN}` },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    await response.arrayBuffer();
    return response.status;
  }

  const record = (body: unknown): Promise<number> => post(`/v1/devices/${product.deviceIds[0]}/record/`, body);
  const network = (path: string, body: unknown): Promise<number> => post(`/integrations/${path}/`, body);

  /** Each took the event loop that long once, or was answered 500; `test/timed/heavy-bodies.test.ts` has their time. */
  const bodies: [before: string, status: number, send: () => Promise<number>][] = [
    ['10 s: places that are none', 400, () => record(many(4_000, () => ({ field: 'place', value: `${PLACE}x` })))],
    ['15 s: unknown places', 400, () => record(many(4_000, () => ({ field: 'spot', value: `${PLACE}x` })))],
    ['80 s: digits for nobody', 400, () => record([{ field: 'number', value: `${'1'.repeat(200_000)}x` }])],
    ['0.9 s: short digits for nobody', 400, () => record(many(2_400, (at) => ({ field: `f${at}`, value: `${'1'.repeat(390)}x` })))],
    ['minutes: a list under a long name', 202, () => network('lorawan/tti', uplink({ ['k'.repeat(500_000)]: many(10_000, () => 0) }))],
    ['minutes: a name of underlines', 200, () => network('lorawan/tti', uplink({ [`x${'_'.repeat(400_000)}x`]: 1 }))],
    ['minutes: NULs', 400, () => network('lorawan/tti', `${'\0'.repeat(500_000)}x\0`)],
    ['minutes: a channel', 200, () => network('lorawan/helium', { DevEUI_uplink: { DevEUI: EUI, payload_hex: '01', Channel: `${'1'.repeat(400_000)}x` } })],
    ['0.1 s: 49,000 objects', 200, () => network('lorawan/tti', objects(EUI))],
    ['500: deep text in a message', 202, () => network('lorawan/chirpstack', { deviceInfo: { devEui: EUI }, data: 'AQ==', objectJSON: nested(100_000) })],
    ['500: deep data', 202, () => network('particle', { coreid: EUI, data: nested(100_000) })],
    ['2.7 s: a form of names alone', 400, () => post('/integrations/particle/', 'a=&' + 'a&'.repeat(500_000), FORM)],
    ['0.4 s: such a form at a webhook', 200, () => post(`/integrations/api/${decoding.webhookId}/`, 'a&'.repeat(250_000), FORM)],
    ['500: deep variables', 400, () => post('/graphql', `{"query":"{ __typename }","variables":${nested(150_000)}}`)],
  ]; // prettier-ignore

  test.each(bodies)('%s', async (_, status, send) => {
    expect(await send()).toBe(status);
    expect(server.process.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  const asked = async (path: string, body: string, token?: string): Promise<[status: number, answer: string]> => {
    const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: `Token ${token}` }) };
    const response = await fetch(server.url + path, { method: 'POST', headers, body });
    return [response.status, await response.text()];
  };

  const recording = (): string => `/v1/devices/${product.deviceIds[0]}/record/`;
  const networkMessage = `{"end_device_ids":{"dev_eui":"${EUI}"},"uplink_message":{"decoded_payload":{"a":[${RICH}]}}}`;
  test.each([
    ['variables', () => '/graphql', `{"query":"{ __typename }","variables":{"a":[${RICH}]}}`],
    ['entries', recording, `[${RICH}]`],
    ['an entry', recording, `{"field":"label","value":"a","x":[${RICH}]}`],
    ['entries with a mistake behind', recording, `[${RICH},NaN,x]`],
    ['a message of a network', () => '/integrations/lorawan/tti/', networkMessage],
  ])('too many different keys: %s', async (_, path, body) => {
    const [status, answer] = await asked(path(), body, ADMIN_TOKEN);
    expect([status, answer]).toEqual([400, expect.stringMatching(/at most 12000 different keys/)]);
  });

  test('a line of a file with too many different keys', async () => {
    const line = `{"device":"${EUI}","field":"label","timestamp":1700000001,"value":1,"x":[${RICH.slice(0, 200_000)}0}]}`;
    const headers = { 'Content-Type': 'application/x-ndjson', Authorization: `Token ${ADMIN_TOKEN}` };
    const response = await fetch(`${server.url}/v1/import`, { method: 'POST', headers, body: line });
    expect(await response.text()).toMatch(/at most 12000 different keys/);
  });

  test('a stranger asks GraphQL for little', async () => {
    const body = (length: number): string =>
      JSON.stringify({ query: '{ __typename }', variables: { a: 'x'.repeat(length) } });
    expect(await asked('/graphql', body(60_000))).toEqual([200, expect.stringContaining('"Query"')]);
    // Before it is read.
    for (const token of [undefined, 'nobody'])
      expect(await asked('/graphql', body(70_000), token)).toEqual([413, expect.stringContaining('65536')]);
    // It looks short.
    const packed = { method: 'POST', headers: { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' } };
    const unpacked = await fetch(`${server.url}/graphql`, { ...packed, body: gzipSync(body(70_000)) });
    expect([unpacked.status, await unpacked.text()]).toEqual([413, expect.stringContaining('65536')]);
    const short = await fetch(`${server.url}/graphql`, { ...packed, body: gzipSync(body(60_000)) });
    expect([short.status, await short.text()]).toEqual([200, expect.stringContaining('"Query"')]);
    // It does not say how long it is.
    const pieces = (text: string) => ({ body: new Blob([text]).stream(), duplex: 'half' as const });
    const type = { 'Content-Type': 'application/json' };
    const streamed = async (text: string): Promise<number> =>
      (await fetch(`${server.url}/graphql`, { method: 'POST', headers: type, ...pieces(text) })).status;
    expect([await streamed(body(60_000)), await streamed(body(70_000))]).toEqual([200, 413]);
    expect(await asked('/graphql', body(70_000), ADMIN_TOKEN)).toEqual([200, expect.stringContaining('"Query"')]);
  });

  test.each([
    ['variables', '/graphql', VARIABLES],
    ['messages of a network', '/integrations/lorawan/tti/', objects(UNASKED_EUI)],
  ])('of twenty %s that come in together the event loop takes one at a time', async (_, path, body) => {
    const senders = await Promise.all(many(20, () => posting(server.process, path, body)));
    expect(await piecesTogether(server, senders)).toBeGreaterThanOrEqual(4);
    expect(new Set(await Promise.all(senders.map(({ answered }) => answered)))).toEqual(new Set([200]));
  });

  test('a content type of blanks that are none to HTTP', async () => {
    const socket = connect(server.process.port, '127.0.0.1');
    const answered = new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())));
    const head = `POST /integrations/api/${product.webhookId}/ HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\nContent-Type: `;
    socket.write(Buffer.from(`${head}${'\xa0'.repeat(15_000)}\r\n\r\n{}`, 'latin1'));
    expect(await answered).toContain('HTTP/1.1 202');
    socket.destroy();
  });
});

describe('the heaviest messages of WebSockets', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database: 'sqlite', watched: true });
  });
  afterAll(() => server.stop());

  async function opened(): Promise<WebSocket> {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send(JSON.stringify({ type: 'connection_init', payload: { token: ADMIN_TOKEN } }));
    await new Promise((resolve) => socket.once('message', resolve));
    return socket;
  }

  function answered(socket: WebSocket): Promise<string> {
    return new Promise((resolve) => {
      socket.once('message', (data: Buffer) => resolve(data.toString()));
      socket.once('close', (code) => resolve(String(code)));
    });
  }

  test('a list of half a million numbers is read once, and what is too deep is refused', async () => {
    const long = await opened();
    const closed = answered(long);
    long.send(`[${'1,'.repeat(500_000)}1]`);
    expect(await closed).toBe('4400');
    const socket = await opened();
    const answer = answered(socket);
    socket.send(`{"type":"ping","payload":${nested(150_000)}}`);
    expect(await answer).toBe('4400');
  });

  test('before its token a connection says little', async () => {
    const unknown = async (): Promise<WebSocket> => {
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      await new Promise((resolve) => socket.once('open', resolve));
      return socket;
    };
    const saying = async (message: object): Promise<string> => {
      const socket = await unknown();
      const answer = answered(socket);
      socket.send(JSON.stringify(message));
      return answer;
    };
    const init = (length: number): object => ({
      type: 'connection_init',
      payload: { token: ADMIN_TOKEN, x: 'x'.repeat(length) },
    });
    const ping = { type: 'ping', payload: { x: 'x'.repeat(10_000) } };
    expect(await saying(init(16_000))).toContain('connection_ack');
    expect(await saying(init(17_000))).toBe('4401');
    const stranger = await unknown();
    const closed = new Promise((resolve) => stranger.once('close', resolve));
    for (let times = 0; times < 2; times += 1) stranger.send(JSON.stringify(ping));
    expect(await closed).toBe(4401);
    const socket = await opened();
    const answer = answered(socket);
    socket.send(JSON.stringify({ ...ping, payload: { x: 'x'.repeat(100_000) } }));
    expect(await answer).toContain('pong');
  });

  test('a message of too many different keys is none', async () => {
    const socket = await opened();
    const answer = answered(socket);
    socket.send(`{"type":"ping","payload":{"a":[${RICH}]}}`);
    expect(await answer).toBe('4400');
  });

  test('messages that twenty send at once are read in turns, each connection in order', async () => {
    const payload = { list: many(30_000, (at) => ({ name: `n${at}`, at })) };
    const ping = JSON.stringify({ type: 'ping', payload });
    const query = JSON.stringify({ id: '1', type: 'subscribe', payload: { query: '{ __typename }' } });
    const sending = async (): Promise<Sender & { types: string[] }> => {
      const socket = await opened();
      const types: string[] = [];
      const answered = new Promise<void>((resolve) => {
        socket.on('message', (data: Buffer) => {
          const { type } = JSON.parse(data.toString()) as { type: string };
          types.push(type);
          if (type !== 'complete') return;
          socket.terminate();
          resolve();
        });
      });
      await new Promise((resolve) => socket.send(ping.slice(0, -1), { fin: false }, resolve));
      const end = (): void => {
        socket.send(ping.slice(-1), { fin: true });
        socket.send(query);
      };
      return { end, answered, types };
    };
    const senders = await Promise.all(many(20, sending));
    expect(await piecesTogether(server, senders)).toBeGreaterThanOrEqual(4);
    for (const { types } of senders) expect(types).toEqual(['pong', 'next', 'complete']);
  });
});
