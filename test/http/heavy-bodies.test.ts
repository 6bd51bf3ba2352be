import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createProduct, EITHER_DATABASE, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { EUI, heavyBodies, many, nested, objects } from '../support/heavy-bodies.ts';
import { piecesTogether, posting, type Sender } from '../support/all-at-once.ts';

/** That of a device that nobody has asked for: all who do wait for the same look-up. */
const UNASKED_EUI = '70b3d57ed0000002';
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

  const ground = () => ({ url: server.url, deviceId: product.deviceIds[0]!, webhookId: decoding.webhookId });

  // Their time is in `test/timed/heavy-bodies.test.ts`.
  test.each(heavyBodies(ground))('%s', async (_, status, send) => {
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

  test('lines that are none are looked at in slices', async () => {
    const sender = await posting(server.process, '/write', 'a\n'.repeat(400_000));
    expect(await piecesTogether(server, [sender])).toBeGreaterThanOrEqual(4);
    expect(await sender.answered).toBe(400);
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
