import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';

const FIELDS = { temperature: 'FLOAT', open: 'BOOLEAN', note: 'STRING' };
const FILE = `Zeit;Temp, °C;Tür;Notiz
2024-07-01 12:00;21,5;offen;a
2024-07-01 12:10;x;ja;b
`;

/** Files of others with columns of their own, tried before they are stored. */
describe.each(EITHER_DATABASE)('an import that is tried on %s', (database) => {
  let server: TestServer;
  let productId: string;
  let device: string;

  beforeAll(async () => {
    server = await startServer({ database });
    const product = await createProduct(server, { fields: FIELDS, serialNumbers: ['hall-1'] });
    ({ id: productId } = product);
    device = product.deviceIds[0]!;
  });
  afterAll(() => server?.stop());

  async function send(
    query: Record<string, string>,
    body: string,
    { path = `/v1/devices/${device}/import`, type = 'text/csv' } = {},
  ) {
    const response = await fetch(`${server.url}${path}?${new URLSearchParams(query).toString()}`, {
      method: 'POST',
      headers: { Authorization: `Token ${server.adminToken}`, 'Content-Type': type },
      body,
    });
    return { status: response.status, body: (await response.json()) as any };
  }

  async function stored(): Promise<string[]> {
    const headers = { Authorization: `Token ${server.adminToken}` };
    const text = await (await fetch(`${server.url}/v1/devices/${device}/history.csv`, { headers })).text();
    return text.trim().split('\n').slice(1);
  }

  const columns = JSON.stringify({ Zeit: 'timestamp', 'Temp, °C': 'temperature', Tür: 'open', Notiz: '' });

  test('a dry run says what each value of the first lines would become, and stores nothing', async () => {
    const { status, body } = await send({ dryRun: 'true', columns, timeZone: 'Europe/Berlin' }, FILE);
    expect(status).toBe(200);
    expect(body).toMatchObject({ lines: 2, stored: 0, refused: 2, values: 1 });
    const [at, later] = ['2024-07-01T10:00:00.000Z', '2024-07-01T10:10:00.000Z'];
    expect(body.preview).toEqual([
      { line: 2, device: 'hall-1', field: 'temperature', timestamp: at, value: 21.5, code: null, message: null },
      {
        line: 2,
        device: 'hall-1',
        field: 'open',
        timestamp: at,
        value: 'offen',
        code: 'INVALID_VALUE',
        message: expect.stringContaining('"offen"'),
      },
      {
        line: 3,
        device: 'hall-1',
        field: 'temperature',
        timestamp: later,
        value: 'x',
        code: 'INVALID_VALUE',
        message: expect.stringContaining('"x"'),
      },
      {
        line: 3,
        device: 'hall-1',
        field: 'open',
        timestamp: later,
        value: 'ja',
        code: 'INVALID_VALUE',
        message: expect.stringContaining('"ja"'),
      },
    ]);
    expect(await stored()).toEqual([]);
  });

  test('the same without a dry run stores it, in the zone that was given', async () => {
    const { body } = await send({ columns, timeZone: 'Europe/Berlin' }, FILE);
    expect(body).toMatchObject({ lines: 2, refused: 2, values: 1 });
    expect(body).not.toHaveProperty('preview');
    expect(await stored()).toEqual(['hall-1,temperature,2024-07-01T10:00:00.000Z,21.5']);
  });

  test('a preview has the first 20 lines, and counts are those of the whole file', async () => {
    const lines = Array.from({ length: 50 }, (_, at) => `hall-1,${1_700_000_000 + at},${at}`);
    const file = `sensor,time,temperature\n${lines.join('\n')}\nhall-2,1700000000,1\n`;
    const { body } = await send({ dryRun: 'true', columns: 'sensor:device,time:timestamp' }, file, {
      path: '/v1/import',
    });
    expect(body).toMatchObject({
      lines: 51,
      stored: 50,
      refused: 1,
      values: 50,
      rejected: [{ code: 'UNKNOWN_DEVICE' }],
    });
    expect(body.preview).toHaveLength(20);
    expect(body.preview[19]).toMatchObject({ line: 21, value: 19 });
    expect(await stored()).toHaveLength(1);
  });

  test('keys of NDJSON are renamed and left out in the same way', async () => {
    const line = JSON.stringify({ ts: 1_700_000_000, t: 20, junk: 1 });
    const query = { dryRun: 'true', columns: 'ts:timestamp,t:temperature,junk:' };
    const { body } = await send(query, line, { type: 'application/x-ndjson' });
    expect(body).toMatchObject({ lines: 1, stored: 1, preview: [{ field: 'temperature', value: 20 }] });
  });

  test('fields of an export take part in it by their own columns', async () => {
    const wide = `device,timestamp,temperature,note\nx,1700000000,20,"a, b"\n`;
    const { body } = await send({ dryRun: 'true', columns: 'device:' }, wide);
    expect(body).toMatchObject({ stored: 1, values: 2 });
  });

  test.each([
    [
      'a column that the file does not have',
      { columns: 'Zeit:timestamp,Temp:temperature' },
      /no column "Temp".*"Temp, °C"/,
    ],
    [
      'two columns of one name',
      { columns: JSON.stringify({ Zeit: 'timestamp', 'Temp, °C': 'a', Tür: 'a' }) },
      /"a" twice/,
    ],
    ['no time', { columns: '{"Notiz":""}' }, /must be "timestamp".*"Zeit" timestamp/],
    ['what is no pair', { columns: 'Zeit' }, /expected <heading>:<name>/],
    ['what is no JSON', { columns: '{Zeit' }, /not JSON/],
    ['a heading that is named twice', { columns: 'Zeit:timestamp,Zeit:x' }, /"Zeit" is named twice/],
    ['a zone that there is none of', { timeZone: 'Mars/Base' }, /IANA zone/],
    ['another word than true', { dryRun: 'yes' }, /dryRun: expected true or false/],
    ['a slip in a name, which would store it', { dryrun: 'true' }, /no parameter "dryrun"; is "dryRun" meant/],
  ])('%s is refused, and nothing is stored', async (_, query, told) => {
    const { status, body } = await send(query, FILE);
    expect([status, body.code]).toEqual([400, 'BAD_USER_INPUT']);
    expect(body.detail).toMatch(told);
    expect(await stored()).toHaveLength(1);
  });

  test('a dry run needs the right to import', async () => {
    const { createToken } = await server.gql<any>(
      'mutation ($p: ID!) { createToken(input: { name: "r", kind: INDIVIDUAL, scopes: [READ, RECORD], productIds: [$p] }) { secret } }',
      { p: productId },
    );
    const response = await fetch(`${server.url}/v1/devices/${device}/import?dryRun=true`, {
      method: 'POST',
      headers: { Authorization: `Token ${createToken.secret}`, 'Content-Type': 'text/csv' },
      body: FILE,
    });
    expect(response.status).toBe(403);
  });
});
