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

function aliases(count: number, field: string): string {
  return Array.from({ length: count }, (_, at) => `a${at}: ${field}`).join(' ');
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

  const tooMany = { extensions: { code: 'QUERY_TOO_COMPLEX', limit: 'values' } };

  test('under twenty names comes one after the other', async () => {
    const { answer } = await inPieces(8, server, asking(aliases(20, 'rejected { index code }'), recorder));
    const expected = ENTRIES.map((_, index) => ({ index, code: 'UNKNOWN_FIELD' }));
    for (const list of Object.values(answer.data?.['recordMeasurements'])) expect(list).toEqual(expected);
  });

  test('under 190 names is refused, and takes no memory', async () => {
    const { answer, tookMb } = await measured(server, asking(aliases(190, 'rejected { index }'), recorder));
    expect(answer).toMatchObject({ data: null, errors: [tooMany] });
    expect(tookMb).toBeLessThan(200);
  });

  test('is bounded, too, where it is what a decoder printed: 30,000 lines under 190 names', async () => {
    const query = `mutation ($p: ID!, $s: String) { testDecoder(productId: $p, source: $s, request: { body: "" }) {
      ${aliases(190, 'console')} } }`;
    const s = 'function Decoder() { for (var i = 0; i < 30000; i++) console.log("") }';
    const { answer } = await inPieces(15, server, () => server.query(query, { p: product.id, s }));
    expect(answer).toMatchObject({ data: null, errors: [tooMany] });
  });

  test('with 38 million values below them is refused soon', async () => {
    const fields = `rejected { ${aliases(190, 'matchedDevice { product { fields { id } } }')} }`;
    const { answer, tookMb } = await measured(server, asking(fields, reader));
    expect(answer.data).toBeNull();
    expect(answer.errors).toMatchObject([tooMany]);
    expect(tookMb).toBeLessThan(400);
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

  test('under 190 names counts each time', async () => {
    const { answer, tookMb } = await asked(aliases(190, 'timestamps'));
    expect(answer.errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COMPLEX', limit: 'points' } }]);
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
    for (let at = 0; at < 6; at += 1) {
      const made = await server.gql(`mutation { ${aliases(50, 'createProduct(input: { name: "p" }) { id }')} }`);
      for (const { id } of Object.values(made) as { id: string }[]) productIds.push(id);
    }
    await createToken(server, server.adminToken, workspaceId, ['READ', 'RECORD'], { productIds });
    const file = new Sqlite(database.url.slice('sqlite:'.length));
    // Made one by one they took twenty seconds.
    file.exec(`WITH RECURSIVE more(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM more WHERE n < ${TOKENS})
      INSERT INTO token SELECT printf('01900000-0000-7000-8000-%012d', n), name, kind, user_id, workspace_id, scopes,
        product_ids, device_ids, printf('%064d', n), created_at, last_used_at, expires_at, signed_in
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

  test('tells them a few at a time: 190 fields of each were one piece of up to 0.9 s', async () => {
    const { answer } = await inPieces(10, server, asking(`tokens { ${aliases(190, 'scopes')} }`));
    expect(answer.errors).toBeUndefined();
    expect(answer.data?.['workspace'].tokens).toHaveLength(TOKENS);
  });

  test('reads its members once: under 190 names that took all connections for 8 s, so that others were UNAVAILABLE', async () => {
    const { answer } = await inPieces(5, server, asking(aliases(190, 'members { role }')));
    expect(answer.errors).toBeUndefined();
    const lists = Object.values(answer.data?.['workspace']) as unknown[][];
    expect(lists.map((list) => list.length >= MEMBERS)).toEqual(Array.from({ length: 190 }, () => true));
  });

  test('tells members a few at a time', async () => {
    const { answer } = await inPieces(5, server, asking(`members { ${aliases(190, 'role')} }`));
    expect(answer.errors).toBeUndefined();
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

  test('has 190 times all newest values: of lists with 500 items, priced as ten, they were one piece of 1.4 s', async () => {
    const query = `query ($p: ID!) { devices(productId: $p, first: ${DEVICES}) { edges { node {
      latest { ${aliases(190, 'timestamp')} } } } } }`;
    for (const _ of ['at first', 'and planned']) {
      const { answer, tookMb } = await inPieces(4, server, () => server.query(query, { p: product.id }));
      expect(answer.errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COMPLEX', limit: 'bytes' } }]);
      expect(tookMb).toBeLessThan(150);
    }
  });

  test('has them behind a fragment that stands elsewhere with little beside it', async () => {
    const much = `latest { ${aliases(190, 'timestamp')} }`;
    const fragment = 'fragment F on Device { latest { t: timestamp } }';
    const page = (first: number, fields: string): string =>
      `devices(productId: $p, first: ${first}) { edges { node { ...F ${fields} } } }`;
    const hidden = `query ($p: ID!) { few: ${page(1, '')} ${page(DEVICES, much)} } ${fragment}`;
    const shown = `query ($p: ID!) { few: ${page(1, much)} ${page(DEVICES, '')} } ${fragment}`;
    for (const _ of ['at first', 'and planned']) {
      const { answer } = await inPieces(3, server, () => server.query(hidden, { p: product.id }));
      expect(answer.errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COMPLEX', limit: 'bytes' } }]);
      expect((await server.query(shown, { p: product.id })).errors).toBeUndefined();
    }
  });

  test('has many fields of each newest value, which come a few at a time and are all there', async () => {
    const query = `query ($d: ID!) { device(id: $d) { latest { value ${aliases(190, 'field { identifier type role }')} } } }`;
    for (const _ of ['at first', 'and planned']) {
      const { answer } = await inPieces(5, server, () => server.query(query, { d: product.deviceIds[0] }));
      expect(answer.errors).toBeUndefined();
      const latest = answer.data!['device'].latest as { value: number; a189: { identifier: string } }[];
      expect(latest.map(({ a189 }) => a189.identifier)).toEqual(latest.map(({ value }) => `f${value}`));
      expect(latest).toHaveLength(500);
    }
  });

  test.each([
    ['ids of fields', `product(id: $p) { fields { ${aliases(190, 'id')} } }`],
    ['cursors', `product(id: $p) { devices(first: 500) { edges { ${aliases(190, 'cursor')} } } }`],
  ])('has 190 times the same %s', async (_, fields) => {
    const query = `query ($p: ID!) { ${fields} }`;
    const { answer } = await measured(server, () => server.query(query, { p: product.id }));
    const { fields: items, devices } = answer.data!['product'];
    const ids = ((items ?? devices.edges) as Record<string, string>[]).map((item) => new Set(Object.values(item)));
    expect(ids.map(({ size }) => size)).toEqual(Array.from({ length: 500 }, () => 1));
    expect(new Set(ids.map(([id]) => id)).size).toBe(500);
  });
});
