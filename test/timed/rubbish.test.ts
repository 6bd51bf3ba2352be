import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createProduct, startServer, type TestProduct, type TestServer } from '../support/server.ts';

const MB = 1_048_576;
const SENDERS = 16;
const SENDING_MS = 2_000;
/** Ten at once, then three a second; of what is held against nobody a hundred and more. */
const MOST = 30;
/** Three hundred ms at once, then a fifth of the time, each 1.2 ms; of what is held against nobody two thousand. */
const MOST_LONG_HEADS = 800;
/** What is held against its sender takes three times as long. */
const HONEST_MS = 4_000;
const BLANKS = `[${' '.repeat(MB - 2)}]`;
const NUMBERS = '1,'.repeat(MB / 2 - 200);

describe('bodies of which hardly anything is stored', () => {
  let server: TestServer;
  let token: string;
  let good: TestProduct;
  let bad: TestProduct;

  beforeAll(async () => {
    server = await startServer({ database: 'sqlite', env: { WRITE_RATE_PER_FIELD: '0' } });
    good = await createProduct(server);
  });
  afterAll(() => server.stop());
  // What is held against a workspace is not held against the next one.
  beforeEach(async () => {
    const { createWorkspace } = await server.gql<any>('mutation { createWorkspace(name: "bad") { id } }');
    const created = await server.gql<any>(
      `mutation ($id: ID!) {
         createToken(input: { name: "bad", kind: INDIVIDUAL, workspaceId: $id, scopes: [READ, RECORD, CONFIGURE, ADMIN] }) { secret }
       }`,
      { id: createWorkspace.id },
    );
    token = created.createToken.secret;
    const fields = { temperature: 'FLOAT', text: 'STRING' };
    bad = await createProduct(server, { fields, token, workspaceId: createWorkspace.id });
  });

  const post = async (path: string, body: string | Uint8Array<ArrayBuffer>, packed = false): Promise<number> => {
    const headers = { Authorization: `Token ${token}`, ...(packed && { 'Content-Encoding': 'gzip' }) };
    const response = await fetch(server.url + path, { method: 'POST', headers, body });
    await response.arrayBuffer();
    return response.status;
  };
  const recording = () => `/v1/devices/${bad.deviceIds[0]}/record/`;

  /** What `work` gives while another workspace sends all the time. */
  async function besideOthers<T>(work: () => Promise<T>): Promise<T> {
    const state = { isOver: false };
    const others = (async (): Promise<void> => {
      while (!state.isOver) await server.record(good.deviceIds[0]!, { field: 'temperature', value: 1 });
    })();
    try {
      return await work();
    } finally {
      state.isOver = true;
      await others;
    }
  }

  /** How many of them are answered with 200 while so many senders do nothing else. */
  async function takenOf(send: () => Promise<number>): Promise<number> {
    let taken = 0;
    const end = performance.now() + SENDING_MS;
    const sender = async (): Promise<void> => {
      while (performance.now() < end) {
        const status = await send();
        if (performance.now() < end) taken += status === 200 ? 1 : 0;
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, sender));
    return taken;
  }

  test.each([
    ['blanks', recording, BLANKS],
    ['packed blanks', recording, gzipSync(BLANKS)],
    ['an entry with a key that nobody reads', recording, `{"field":"temperature","value":1,"x":[${NUMBERS}1]}`],
  ])('wait while others send: %s', async (_, path, body) => {
    const packed = typeof body !== 'string';
    expect(await post(path(), body, packed)).toBe(200);
    const taken = await besideOthers(() => takenOf(() => post(path(), body, packed)));
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(MOST);
  });

  test('calls wait while others send: whose heads are long', async () => {
    const source = 'function Decoder() { return [{ device: "bad", field: "temperature", value: 1 }]; }';
    await server.gql('mutation ($id: ID!, $source: String!) { saveDecoder(productId: $id, source: $source, force: true) { version } }', { id: bad.id, source }); // oxfmt-ignore
    const call = (query: string) => (): Promise<number> => post(`/integrations/api/${bad.webhookId}/${query}`, '{}');
    const taken = (query: string): Promise<number> => besideOthers(() => takenOf(call(query)));
    // The decoder is up, and known.
    for (let at = 0; at < 20; at += 1) expect(await call('?a=1')()).toBe(200);
    const usual = await taken('?a=1');
    // Others are gone, and what it counts is forgiven.
    await new Promise((resolve) => setTimeout(resolve, 3_200));
    const long = await taken(`${'/'.repeat(9_000)}?${'a=1&'.repeat(1_200)}`);
    expect(long).toBeGreaterThan(0);
    expect(long).toBeLessThan(MOST_LONG_HEADS);
    expect(usual).toBeGreaterThan(long);
  });

  const texts = Array.from({ length: 240 }, (__, at) => ({
    field: 'text',
    value: 'ü'.repeat(2_000),
    timestamp: 1.7e9 + at,
  }));
  test.each([
    ['long texts', texts],
    ['a few entries with much about them', Array.from({ length: 900 }, (__, at) => ({ field: 'temperature', value: at, timestamp: 1.7e9 + at, note: 'n'.repeat(950) }))],
  ])('not: %s', async (_, batch) => {
    const body = JSON.stringify(batch);
    expect(body.length).toBeGreaterThan(0.45 * MB);
    const tookMs = await besideOthers(async () => {
      const from = performance.now();
      const all = Array.from({ length: 24 }, () => post(recording(), body));
      expect(new Set(await Promise.all(all))).toEqual(new Set([200]));
      return performance.now() - from;
    });
    expect(tookMs).toBeLessThan(HONEST_MS);
  }); // oxfmt-ignore
});
