import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countedWork } from '../support/counted-work.ts';
import { executeSql } from '../support/execute-sql.ts';
import { expectPieces, piecesOfServer } from '../support/pieces.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { firstPush } from '../support/subscribe.ts';
import {
  createDatabase,
  createProduct,
  EITHER_DATABASE,
  startServer,
  type TestDatabase,
  type TestServer,
} from '../support/server.ts';

const DEVICES = 1_000;
/** 64 KB of JSON that parses into 21,000 lists. */
const LONG: unknown[] = Array.from({ length: 21_000 }, () => []);
/** Less of JSON is parsed than the metadata of fifty of them has: that of 200 and more takes seconds. */
const FEW = 50 * 64_000;

describe.each(EITHER_DATABASE)('devices with long metadata on %s', (database) => {
  let server: TestServer;
  let place: TestDatabase;
  let productId: string;
  let ids: string[];
  /** Limited to the devices. */
  let reader: string;

  beforeAll(async () => {
    place = await createDatabase(database);
    server = await startServer({ database: place, watched: true });
    const serialNumbers = Array.from({ length: DEVICES }, (_, at) => `s${at}`);
    ({ id: productId, deviceIds: ids } = await createProduct(server, { serialNumbers }));
    // As long as what they may be told, of a field that is no more.
    const told = JSON.stringify({ 0: 'x'.repeat(60_000) });
    await executeSql(place.url, `update device set metadata = '${JSON.stringify(LONG)}', configuration = '${told}'`);
    const { createToken } = await server.gql(
      `mutation ($ids: [ID!]) { createToken(input: { name: "reader", kind: INDIVIDUAL, scopes: [READ], deviceIds: $ids }) { secret } }`,
      { ids },
    );
    reader = createToken.secret;
  });

  afterAll(async () => {
    await server?.stop();
    await place?.drop();
  });

  const times = (count: number, field: (at: number) => string): string =>
    Array.from({ length: count }, (_, at) => `a${at}: ${field(at)}`).join(' ');

  const tokenFor = (query: string): string => (query.includes('viewer') ? reader : ADMIN_TOKEN);

  test.each([
    ['devices of a token, thrice', `{ ${times(3, () => 'viewer { token { devices { id product { id } } } }')} }`],
    ['a page of them', 'query ($p: ID) { devices(productId: $p, first: 500) { edges { node { id name tags } } } }'],
    ['a page of a product', 'query ($p: ID!) { product(id: $p) { devices(first: 500) { edges { node { id } } } } }'],
    [
      'the history of many',
      `query ($few: [ID!]) {
         history(deviceIds: $few, fields: ["temperature"], from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z", maxPoints: 10) {
           device { id }
         }
       }`,
    ],
  ])('nothing is parsed that was not asked for: %s', async (_, query) => {
    const answers: string[] = [];
    const ask = async (): Promise<unknown> =>
      answers.push(JSON.stringify(await server.gql(query, { p: productId, few: ids.slice(0, 200) }, tokenFor(query))));
    await ask();
    expect((await countedWork(server, ask)).parsed).toBeLessThan(FEW);
    expect(answers[1]).toContain(ids[100]);
    expect(server.process.residentMb()).toBeLessThan(600);
  });

  test('the metadata is not parsed of devices that a decoder names, nor of those that its values were matched to', async () => {
    const source = (at: string): string =>
      `var names = ${JSON.stringify(ids)}; function Decoder() { return names.map(function (name) { return { device: name, field: "${at}", value: 1 } }) }`;
    const ask = (field: string, shown: string): Promise<Record<string, any>> =>
      server.gql(
        `mutation ($p: ID!, $s: String) { testDecoder(productId: $p, source: $s, request: { body: "" }) { entries { ${shown} } } }`,
        { p: productId, s: source(field) },
      );
    // What is known of them by now is forgotten.
    await server.process.stop();
    server = await startServer({ database: place, watched: true });
    let pieces = 0;
    const first = await countedWork(server, async () => {
      pieces = await piecesOfServer(server, () => ask('none', 'index'));
    });
    // Decoders are told the configuration of each.
    expect(first.parsed).toBeLessThan(DEVICES * 60_000 + FEW);
    expect(pieces).toBeGreaterThanOrEqual(5);
    await ask('temperature', 'index');
    let answer: Record<string, any> = {};
    const matched = async (): Promise<void> => {
      answer = await ask('temperature', 'matchedDevice { id product { id } }');
    };
    // The configuration of those that had to make room is read again.
    expect((await countedWork(server, matched)).parsed).toBeLessThan(DEVICES * 30_000);
    expect(answer['testDecoder'].entries).toEqual(
      ids.map((id) => ({ matchedDevice: { id, product: { id: productId } } })),
    );
  });

  test('nor is that of others when who is told of their status begins, or when their product changes', async () => {
    const query = 'subscription ($p: ID!) { deviceStatusChanged(productId: $p) { device { id metadata } online } }';
    const update = (seconds: number): Promise<unknown> =>
      server.gql(`mutation ($p: ID!) { updateProduct(id: $p, input: { offlineAfterSeconds: ${seconds} }) { id } }`, {
        p: productId,
      });
    let heard = 0;
    const told = async (): Promise<void> => {
      const first = firstPush(server.url, ADMIN_TOKEN, query, { p: productId });
      // One that is heard for the first time when it has begun is told.
      const recording = setInterval(() => void server.record(ids[heard++]!, { field: 'temperature', value: 1 }), 200);
      try {
        const { data } = (await first)!;
        expect(data!['deviceStatusChanged']).toMatchObject({ online: true });
        expect(JSON.stringify(data!['deviceStatusChanged'].device.metadata)).toBe(JSON.stringify(LONG));
      } finally {
        clearInterval(recording);
      }
    };
    await update(60);
    expect((await countedWork(server, told)).parsed).toBeLessThan(FEW);
    const socket = firstPush(server.url, ADMIN_TOKEN, query, { p: productId });
    const changes = async (): Promise<void> => {
      for (let seconds = 100; seconds < 110; seconds += 1) await update(seconds);
      await socket;
    };
    expect((await countedWork(server, changes)).parsed).toBeLessThan(FEW);
  });

  test('a page that shows it is written device by device', async () => {
    const query =
      'query ($p: ID, $first: Int) { devices(productId: $p, first: $first) { edges { node { metadata } } } }';
    let nodes: { node: { metadata: unknown } }[] = [];
    const ask = async (): Promise<void> => {
      nodes = (await server.gql(query, { p: productId, first: 150 }))['devices'].edges;
    };
    await ask();
    await expectPieces(15, () => piecesOfServer(server, ask));
    expect(nodes.length).toBe(150);
    // One by one its lists would take a minute to compare.
    const text = JSON.stringify(LONG);
    expect(nodes.every(({ node }) => JSON.stringify(node.metadata) === text)).toBe(true);
    const { errors } = await server.query(query, { p: productId, first: 500 });
    expect(errors?.map(({ extensions }) => extensions)).toMatchObject([{ code: 'QUERY_TOO_COMPLEX', limit: 'bytes' }]);
    expect(server.process.residentMb()).toBeLessThan(600);
  });

  test('it costs what a long text costs', async () => {
    const pages = (count: number): Promise<{ errors?: { extensions: unknown }[] }> =>
      server.query(
        `{ ${times(count, (at) => `devices(first: 500, search: "nobody ${at}") { edges { node { metadata } } }`)} }`,
      );
    expect((await pages(4)).errors).toBeUndefined();
    expect((await pages(5)).errors?.map(({ extensions }) => extensions)).toMatchObject([
      { code: 'QUERY_TOO_COMPLEX', limit: 'cost' },
    ]);
  });

  test('whatever else of a device is changed, it stays, and is what each answer shows', async () => {
    const [id, other] = ids as [string, string];
    const shown = async (mutation: string, variables: object = {}): Promise<unknown> => {
      const more = mutation.includes('$v') ? ', $v: JSON' : '';
      const query = `mutation ($id: ID!${more}) { changed: ${mutation} { metadata } }`;
      const { changed } = await server.gql(query, { id, ...variables });
      const { device } = await server.gql('query ($id: ID!) { device(id: $id) { metadata } }', { id });
      expect(changed).toEqual(device);
      return device.metadata;
    };
    const update = (input: string, v: unknown = null): Promise<unknown> =>
      shown(`updateDevice(id: $id, input: { ${input} })`, { v });
    expect(await update('name: "other", tags: ["t"], location: "here", offlineAfterSeconds: 5')).toEqual(LONG);
    expect(await shown('replaceDevice(id: $id, serialNumber: "new")')).toEqual(LONG);
    await server.gql(
      'mutation ($p: ID!) { addConfigurationField(productId: $p, input: { identifier: "c", type: NUMBER }) { id } }',
      { p: productId },
    );
    expect(await shown('setConfiguration(deviceId: $id, values: { c: 5 })')).toEqual(LONG);
    await server.gql('mutation ($id: ID!) { setWriteRate(deviceId: $id, perSecond: 5) }', { id });
    expect(await update('metadata: $v', { a: [1, 'ü', null] })).toEqual({ a: [1, 'ü', null] });
    expect(await update('name: "again"')).toEqual({ a: [1, 'ü', null] });
    expect(await update('metadata: $v', null)).toBeNull();
    expect(await update('metadata: $v', 'text')).toBe('text');
    const both = await server.gql(
      'query ($ids: [ID!]) { devices(ids: $ids) { edges { node { name metadata configuration { value } } } } }',
      { ids: [id, other] },
    );
    expect(both.devices.edges.map(({ node }: { node: unknown }) => node)).toEqual([
      { name: 'again', metadata: 'text', configuration: [{ value: 5 }] },
      { name: 'device s1', metadata: LONG, configuration: [{ value: null }] },
    ]);
  });
});
