import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectPieces, piecesOfServer } from '../support/pieces.ts';
import {
  createDatabase,
  createProduct,
  type GqlAnswer,
  startServer,
  type TestDatabase,
  type TestProduct,
  type TestServer,
} from '../support/server.ts';
import { createToken } from '../support/tenant.ts';

const ENTRIES = Array.from({ length: 10_000 }, () => ({ field: 'x', value: 1 }));
const TOKENS = 1_500;
const MEMBERS = 1_000;
const DEVICES = 57;
/** Of an entry, in twelve values. */
const EVERYTHING = `index field value ${['code', 'message', 'timestamp'].map((name) => aliases(3, name, name)).join(' ')}`;

function aliases(count: number, field: string, name = 'a'): string {
  return Array.from({ length: count }, (_, at) => `${name}${at}: ${field}`).join(' ');
}

/** The answer and what memory it took. */
async function measured(server: TestServer, ask: () => Promise<GqlAnswer>) {
  const before = server.process.residentMb();
  const answer = await ask();
  return { answer, tookMb: server.process.residentMb() - before };
}

/** The same, and others are heard meanwhile at least so many times. */
async function inPieces(least: number, server: TestServer, ask: () => Promise<GqlAnswer>) {
  const before = server.process.residentMb();
  let answer: GqlAnswer = { data: null };
  const work = async (): Promise<void> => {
    answer = await ask();
  };
  await expectPieces(least, () => piecesOfServer(server, work));
  return { answer, tookMb: server.process.residentMb() - before };
}

describe('a mutation whose long list is asked for again and again', () => {
  let server: TestServer;
  let product: TestProduct;
  let recorder: string;
  let reader: string;

  beforeAll(async () => {
    server = await startServer({ database: 'sqlite', watched: true });
    const fields = Array.from({ length: 20 }, (_, at) => [`f${at}`, 'FLOAT']);
    product = await createProduct(server, { fields: Object.fromEntries(fields) });
    const { workspaces } = await server.gql('{ workspaces { id } }');
    const token = async (...scopes: string[]): Promise<string> =>
      (await createToken(server, server.adminToken, workspaces[0].id, scopes)).secret;
    recorder = await token('RECORD');
    reader = await token('RECORD', 'READ');
  });
  afterAll(() => server.stop());

  function asking(fields: string, token: string): () => Promise<GqlAnswer> {
    const query = `mutation ($d: ID!, $e: [EntryInput!]!) { recordMeasurements(deviceId: $d, entries: $e) { ${fields} } }`;
    return () => server.query(query, { d: product.deviceIds[0], e: ENTRIES }, token);
  }

  test('under three names comes as often, and others are heard meanwhile', async () => {
    const { answer } = await inPieces(2, server, asking(aliases(3, 'rejected { index code }'), recorder));
    const expected = ENTRIES.map((_, index) => ({ index, code: 'UNKNOWN_FIELD' }));
    for (const list of Object.values(answer.data?.['recordMeasurements'])) expect(list).toEqual(expected);
  });

  test.each([
    ['under four names', aliases(4, 'rejected { index }'), 'equal fields'],
    [
      'with very much of each item',
      `rejected { ${aliases(3, 'matchedDevice { product { fields { id } } }')} }`,
      'cost',
    ],
    ['with more of each than an answer may have', `rejected { ${EVERYTHING} }`, 'cost'],
  ])('%s is refused before anything is recorded', async (_, fields, limit) => {
    const { rejected } = (await asking('rejected { index }', recorder)()).data!['recordMeasurements'];
    expect(rejected).toHaveLength(ENTRIES.length);
    const { answer, tookMb } = await measured(server, asking(`stored ${fields}`, reader));
    expect(answer).toMatchObject({ errors: [{ extensions: { code: 'QUERY_TOO_COMPLEX', limit } }] });
    expect(tookMb).toBeLessThan(200);
  });

  const testing = (body: string, fields: string) => () =>
    server.query(
      `mutation ($p: ID!, $s: String) { testDecoder(productId: $p, source: $s, request: { body: "" }) { ${fields} } }`,
      { p: product.id, s: `function Decoder() { ${body} }` },
    );
  const entries = 'return Array.from({ length: 10000 }, () => ({ field: "f1", value: "x" }))';

  test('is bounded, too, where it is what a decoder printed: 30,000 lines under three names', async () => {
    const body = 'for (var i = 0; i < 30000; i++) console.log("")';
    const { answer } = await inPieces(3, server, testing(body, aliases(3, 'console')));
    expect(answer.data?.['testDecoder'].a2).toHaveLength(30_000);
  });

  test('has no more values than an answer may have where only its run tells how long it is', async () => {
    const { answer, tookMb } = await measured(server, testing(entries, `entries { ${EVERYTHING} }`));
    const tooMany = { extensions: { code: 'QUERY_TOO_COMPLEX', limit: 'values', allowed: 100_000 } };
    expect(answer).toMatchObject({ data: null, errors: [tooMany] });
    expect(tookMb).toBeLessThan(200);
    expect((await testing(entries, `entries { code }`)()).data?.['testDecoder'].entries).toHaveLength(10_000);
  });
});

describe('a history whose columns are asked for again and again', () => {
  let server: TestServer;
  let deviceId: string;
  beforeAll(async () => {
    server = await startServer({ database: 'sqlite', watched: true });
    deviceId = (await createProduct(server)).deviceIds[0]!;
    for (let page = 0; page < 10; page += 1) {
      const entries = ENTRIES.map((_, at) => ({
        field: 'temperature',
        value: at,
        timestamp: 1e9 + page * 10_000 + at,
      }));
      expect((await server.record(deviceId, entries)).status).toBe(200);
    }
  });
  afterAll(() => server.stop());

  const asked = (fields: string) =>
    measured(server, () =>
      server.query(
        `query ($d: ID!) { device(id: $d) {
           history(from: "2001-01-01T00:00:00Z", to: "2002-01-01T00:00:00Z") { ${fields} } } }`,
        { d: deviceId },
      ),
    );

  test('under several names counts each time', async () => {
    const columns = `${aliases(3, 'timestamps', 't')} ${aliases(3, 'values', 'v')} before { value }`;
    const { answer, tookMb } = await asked(columns);
    expect(answer.errors).toBeUndefined();
    const other = 'other: history(from: "2001-01-02T00:00:00Z", to: "2002-01-01T00:00:00Z") { truncated';
    const { answer: both } = await asked(`${columns} } ${other}`);
    expect(both.errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COMPLEX', limit: 'points' } }]);
    expect(tookMb).toBeLessThan(150);
  });

  test('comes under a few names as under one', async () => {
    const { answer } = await asked('a: timestamps b: timestamps values again: values');
    const [series] = answer.data!['device'].history as Record<string, number[]>[];
    expect(series!['a']).toHaveLength(100_000);
    expect(series!['b']).toEqual(series!['a']);
    expect(series!['again']).toEqual(series!['values']);
    expect(series!['values']!.slice(0, 3)).toEqual([0, 1, 2]);
  });
});

describe('a workspace with very many tokens, each with limits, and members', () => {
  let database: TestDatabase;
  let server: TestServer;
  let workspaceId: string;

  beforeAll(async () => {
    database = await createDatabase('sqlite');
    server = await startServer({ database, watched: true });
    workspaceId = (await server.gql('{ workspaces { id } }'))['workspaces'][0].id;
    const productIds: string[] = [];
    for (let from = 0; from < 300; from += 20) {
      const make = (_: unknown, at: number): string =>
        `p${at}: createProduct(input: { name: "product ${from + at}", fields: [{ identifier: "temperature", type: FLOAT }] }) { id }`;
      const made = await server.gql<Record<string, { id: string }>>(
        `mutation { ${Array.from({ length: 20 }, make).join(' ')} }`,
      );
      productIds.push(...Object.values(made).map(({ id }) => id));
    }
    await createToken(server, server.adminToken, workspaceId, ['READ', 'RECORD'], { productIds });
    const file = new Sqlite(database.url.slice('sqlite:'.length));
    // Made one by one they took twenty seconds.
    file.exec(`WITH RECURSIVE more(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM more WHERE n < ${TOKENS})
      INSERT INTO token SELECT printf('01900000-0000-7000-8000-%012d', n), name, kind, user_id, workspace_id, scopes,
        product_ids, device_ids, printf('%064d', n), created_at, last_used_at, expires_at, signed_in, fields
      FROM token, more WHERE product_ids IS NOT NULL`);
    file.exec(`WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more WHERE n < ${MEMBERS})
      INSERT INTO user_account SELECT printf('01900000-0000-7000-8000-%012d', n), n || '@example.org', null, null, 0, 0
      FROM more`);
    file.exec(
      `INSERT INTO member SELECT '${workspaceId}', id, 'VIEWER' FROM user_account WHERE email LIKE '%@example.org'`,
    );
    file.close();
  });
  afterAll(async () => {
    await server?.stop();
    await database?.drop();
  });

  function asking(fields: string): () => Promise<GqlAnswer> {
    const query = `query ($w: ID!) { workspace(id: $w) { ${fields} } }`;
    return () => server.query(query, { w: workspaceId });
  }

  test('tells them a few at a time', async () => {
    const fields = ['scopes', 'name', 'kind', 'id', 'createdAt'].map((name) => aliases(3, name, name)).join(' ');
    const { answer } = await inPieces(4, server, asking(`tokens { ${fields} }`));
    expect(answer.errors).toBeUndefined();
    expect(answer.data?.['workspace'].tokens).toHaveLength(TOKENS);
  });

  test('tells its members under each of three names', async () => {
    const answer = await asking(aliases(3, 'members { role user { id email name } }'))();
    expect(answer.errors).toBeUndefined();
    const lists = Object.values(answer.data?.['workspace']) as unknown[][];
    expect(lists.map((list) => list.length >= MEMBERS)).toEqual([true, true, true]);
  });

  test('reads no more of their products than an operation may: four such questions took 1.4 GB', async () => {
    const { answer, tookMb } = await measured(server, asking('tokens { products { id } }'));
    expect(answer.data).toBeNull();
    // Not "seconds": it does not go on for half a minute.
    expect(answer.errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COMPLEX', limit: 'errors' } }]);
    expect(tookMb).toBeLessThan(250);
  });
});

describe('a page of which the same is asked again and again', () => {
  let server: TestServer;
  let product: TestProduct;

  beforeAll(async () => {
    server = await startServer({ database: 'sqlite', watched: true });
    const fields = Array.from({ length: 500 }, (_, at) => [`f${at}`, 'FLOAT']);
    const serialNumbers = Array.from({ length: 500 }, (_, at) => `s${at}`);
    product = await createProduct(server, { fields: Object.fromEntries(fields), serialNumbers });
    const entries = fields.map(([field], value) => ({ field, value, timestamp: 1e9 }));
    for (const device of product.deviceIds.slice(0, DEVICES)) await server.record(device, entries);
  });
  afterAll(() => server.stop());

  test('has no more of its newest values than an answer may have', async () => {
    const query = (first: number): string => `query ($p: ID!) { devices(productId: $p, first: ${first}) { edges { node {
      latest { ${aliases(3, 'timestamp')} value } } } } }`;
    for (const _ of ['at first', 'and planned']) {
      const { answer, tookMb } = await measured(server, () => server.query(query(DEVICES), { p: product.id }));
      expect(answer.errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COMPLEX', limit: 'values' } }]);
      expect(tookMb).toBeLessThan(150);
      expect((await server.query(query(DEVICES - 10), { p: product.id })).errors).toBeUndefined();
    }
  });

  test('has many fields of each newest value, which come a few at a time and are all there', async () => {
    const field = 'field { id identifier name description type role unit meaning overflowAt }';
    const query = `query ($d: ID!) { device(id: $d) { latest { value ${aliases(3, field)} } } }`;
    for (const _ of ['at first', 'and planned']) {
      const { answer } = await inPieces(2, server, () => server.query(query, { d: product.deviceIds[0] }));
      expect(answer.errors).toBeUndefined();
      const latest = answer.data!['device'].latest as { value: number; a2: { identifier: string } }[];
      expect(latest.map(({ a2 }) => a2.identifier)).toEqual(latest.map(({ value }) => `f${value}`));
      expect(latest).toHaveLength(500);
    }
  });
});
