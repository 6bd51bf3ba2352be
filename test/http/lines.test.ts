import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { createToken } from '../support/tenant.ts';

const FIELDS = {
  temperature: 'FLOAT',
  humidity: 'INTEGER',
  open: 'BOOLEAN',
  note: 'STRING',
  mem_used_percent: 'FLOAT',
  used_percent: 'FLOAT',
  'cpu_cpu-total_usage_idle': 'FLOAT',
  pressure: 'FLOAT',
  temperature_C: 'FLOAT',
};
const AT = 1_700_000_000;
/** Serial numbers of this run: other products of the installation may have the plain ones. */
const ID = String(Date.now());
const [HALL, YARD] = [`hall-${ID}`, `yard ${ID}`];
const YARD_TAG = YARD.replace(' ', '\\ ');

let server: TestServer;
let product: TestProduct;

beforeAll(async () => {
  const env = { LINE_DEVICE_TAGS: 'device,host,measurement+id', MAX_BODY_BYTES: '1000000' };
  server = await startServer({ database: EITHER_DATABASE[0]!, env });
  product = await createProduct(server, { fields: FIELDS, serialNumbers: [HALL, YARD, `Acurite-Tower-${ID}`] });
});
afterAll(() => server?.stop());

interface Sent {
  path?: string;
  headers?: Record<string, string>;
}

async function write(body: string | Buffer, { path = '/write?db=x', headers }: Sent = {}) {
  const authorization = { Authorization: `Token ${server.adminToken}` };
  const response = await fetch(server.url + path, { method: 'POST', headers: headers ?? authorization, body });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text), headers: response.headers };
}

/** Raw values of a field, oldest first, as [milliseconds, value]. */
async function values(field: string, nth = 0): Promise<[number, unknown][]> {
  const { device } = await server.gql(
    `query ($id: ID!, $field: String!) { device(id: $id) { measurements(field: $field, first: 500) {
       edges { node { timestamp value } } } } }`,
    { id: product.deviceIds[nth], field },
  );
  return device.measurements.edges.map(({ node }: any) => [Date.parse(node.timestamp), node.value]);
}

test('values of every kind, for the devices that the tags name, are there when 204 comes', async () => {
  const lines = [
    '# a comment',
    `env,device=${HALL} temperature=21.5,humidity=40i,open=t,note="a \\"b\\", c" ${AT}123456789`,
    '',
    `env,device=${YARD_TAG},room=x temperature=-3e-1 ${AT}000999999\r`,
  ];
  expect(await write(lines.join('\n'))).toMatchObject({ status: 204, body: null });
  expect(await values('temperature')).toContainEqual([AT * 1000 + 123, 21.5]);
  expect(await values('humidity')).toContainEqual([AT * 1000 + 123, 40]);
  expect(await values('open')).toContainEqual([AT * 1000 + 123, true]);
  expect(await values('note')).toContainEqual([AT * 1000 + 123, 'a "b", c']);
  expect(await values('temperature', 1)).toContainEqual([AT * 1000, -0.3]);
});

test.each([
  ['ns', '000000000'],
  ['n', '000000000'],
  ['us', '000000'],
  ['u', '000000'],
  ['ms', '000'],
  ['s', ''],
])('precision=%s', async (precision, zeros) => {
  const at = AT + precision.length * 100 + zeros.length;
  const path = `/api/v2/write?org=o&bucket=b&precision=${precision}`;
  expect(await write(`env,device=${HALL} temperature=1 ${at}${zeros}`, { path })).toMatchObject({
    status: 204,
    body: null,
  });
  expect(await values('temperature')).toContainEqual([at * 1000, 1]);
});

test('times in another unit than the request says are refused, with the unit that they seem to have', async () => {
  const { status, body } = await write(`env,device=${HALL} temperature=1 ${AT}`);
  expect(status).toBe(400);
  expect(body.error).toBe(
    `partial write: line 1: the time ${AT} in ns is not between 2000 and 2100; for s send the parameter precision=s dropped=1`,
  );
  expect((await write(`env,device=${HALL} temperature=1`, { path: '/write?precision=d' })).body.error).toContain('"d"');
});

test('a refused line loses none of the others; the answer says the first and its reason', async () => {
  const lines = `env,device=${HALL} temperature=5 ${AT + 9}\nnonsense\nenv,device=${HALL} wind=3 ${AT + 9}\nenv,device=no temperature=1`;
  const first = await write(lines, { path: '/write?precision=s' });
  expect(first.status).toBe(400);
  expect(first.body).toEqual({
    error: "partial write: line 2: unable to parse 'nonsense': missing fields dropped=3",
  });
  expect(first.headers.get('x-influxdb-error')).toBe(first.body.error);
  expect(await values('temperature')).toContainEqual([(AT + 9) * 1000, 5]);
  const second = await write('env temperature=1', { path: '/api/v2/write' });
  expect(second).toMatchObject({ status: 400, body: { code: 'invalid', line: 1 } });
  // Telegraf and others send again what they are not told in one of two ways.
  expect(second.body.message).toMatch(/^partial write: line 1: /);
  expect(second.body.message).toContain('no tag names the device: expected device or host or measurement+id');
  const unknown = await write(`env,device=${HALL} wind=3`, { path: '/api/v2/write' });
  expect(unknown.body.message).toContain('line 1: wind: UNKNOWN_FIELD');
  const { product: found } = await server.gql(
    'query ($id: ID!) { product(id: $id) { suggestedFields { identifier } } }',
    { id: product.id },
  );
  expect(found.suggestedFields).toContainEqual({ identifier: 'wind' });
});

test.each([
  ['a text that does not end', `env,device=${HALL} note="a`],
  ['a value that is none', `env,device=${HALL} temperature=warm`],
  ['a tag without a value', 'env,device= temperature=1'],
  ['two times', `env,device=${HALL} temperature=1 1 2`],
  ['no measurement', `,device=${HALL} temperature=1`],
  ['a name without end', 'n'.repeat(900_000)],
  ['a text of more escapes than any has', `env,device=${HALL} note="${'\\\\'.repeat(70_000)}"`],
])('%s is no line protocol', async (_, line) => {
  expect((await write(line)).body.error).toMatch(/^line 1: unable to parse/);
});

test('tokens are taken as each sender gives them, and others are refused as InfluxDB does', async () => {
  const token = server.adminToken;
  const line = `env,device=${HALL} pressure=1 ${AT}`;
  const basic = `Basic ${Buffer.from(`any:${token}`).toString('base64')}`;
  for (const Authorization of [`Token ${token}`, `Bearer ${token}`, basic, `Token any:${token}`])
    expect((await write(line, { path: '/write?precision=s', headers: { Authorization } })).status).toBe(204);
  for (const query of [`u=any&p=${token}`, `u=${token}`])
    expect((await write(line, { path: `/write?precision=s&${query}`, headers: {} })).status).toBe(204);
  expect(await write(line, { headers: {} })).toMatchObject({ status: 401, body: { error: expect.any(String) } });
  expect(await write(line, { path: '/api/v2/write', headers: { Authorization: 'Token no' } })).toMatchObject({
    status: 401,
    body: { code: 'unauthorized', message: expect.any(String) },
  });
});

test('a token for one device needs no tag, and writes for no other', async () => {
  const { workspaces } = await server.gql('{ workspaces { id } }');
  const limited = await createToken(server, server.adminToken, workspaces[0].id, ['RECORD'], {
    deviceIds: [product.deviceIds[0]],
  });
  const headers = { Authorization: `Token ${limited.secret}` };
  const path = '/write?precision=s';
  expect((await write(`env pressure=7 ${AT + 1}`, { path, headers })).status).toBe(204);
  expect(await values('pressure')).toContainEqual([(AT + 1) * 1000, 7]);
  expect((await write(`env,device=${YARD_TAG} pressure=8 ${AT + 1}`, { path, headers })).status).toBe(400);
  expect(await values('pressure', 1)).toEqual([]);
});

test('a body over the limit, also after unpacking', async () => {
  const headers = { Authorization: `Token ${server.adminToken}`, 'Content-Encoding': 'gzip' };
  const packed = gzipSync('#'.repeat(1_000_001));
  expect(await write(packed, { path: '/api/v2/write', headers })).toMatchObject({
    status: 413,
    body: { code: 'request too large', message: expect.stringContaining('1000000') },
  });
  expect((await write(packed, { headers })).body.error).toContain('1000000');
});

test('more values than one commit takes', async () => {
  const lines = Array.from(
    { length: 12_000 },
    (_, nth) => `e,host=${HALL} humidity=${nth}i,pressure=1 ${AT + 5_000 + nth}`,
  );
  expect((await write(lines.join('\n'), { path: '/write?precision=s' })).status).toBe(204);
  const range = `from=${AT + 5_000}&to=${AT + 20_000}`;
  const rows = await fetch(`${server.url}/v1/devices/${HALL}/history.csv?fields=humidity&${range}`, {
    headers: { Authorization: `Token ${server.adminToken}` },
  });
  expect((await rows.text()).trim().split('\n')).toHaveLength(12_001);
});

test('a line of more fields than one commit takes is refused, and loses none of the others', async () => {
  const lines = [`e,host=${HALL} ${'pressure=1,'.repeat(10_000)}pressure=1`, `e,host=${HALL} pressure=3 ${AT + 70}`];
  const { status, body } = await write(lines.join('\n'), { path: '/write?precision=s' });
  expect([status, body.error]).toEqual([400, expect.stringMatching(/^partial write: line 1: .*: over 10,000 fields/)]);
  expect(await values('pressure')).toContainEqual([(AT + 70) * 1000, 3]);
});

test('tags that are longer than an identifier hide no field', async () => {
  const line = `mem,host=${HALL},note=${'n'.repeat(70)} used_percent=53 ${AT + 71}`;
  expect((await write(line, { path: '/write?precision=s' })).status).toBe(204);
  expect(await values('mem_used_percent')).toContainEqual([(AT + 71) * 1000, 53]);
});

test('the longest name that the product has is the field', async () => {
  const lines = [
    `mem,host=${HALL} used_percent=51 ${AT + 2}`,
    `swap,host=${HALL} used_percent=7 ${AT + 2}`,
    `cpu,cpu=cpu-total,host=${HALL} usage_idle=93 ${AT + 2}`,
    `temperature,host=${HALL} value=19 ${AT + 2}`,
  ];
  expect((await write(lines.join('\n'), { path: '/write?precision=s' })).status).toBe(204);
  const at = (AT + 2) * 1000;
  expect(await values('mem_used_percent')).toContainEqual([at, 51]);
  expect(await values('used_percent')).toContainEqual([at, 7]);
  expect(await values('cpu_cpu-total_usage_idle')).toContainEqual([at, 93]);
  expect(await values('temperature')).toContainEqual([at, 19]);
});

test('Telegraf: creates its database, then sends gzip with times in ns', async () => {
  const Authorization = `Basic ${Buffer.from(`telegraf:${server.adminToken}`).toString('base64')}`;
  const form = { Authorization, 'Content-Type': 'application/x-www-form-urlencoded', 'User-Agent': 'Telegraf/1.29.2' };
  const create = await write('q=CREATE+DATABASE+%22telegraf%22', { path: '/query', headers: form });
  expect(create).toMatchObject({ status: 200, body: { results: [{ statement_id: 0 }] } });
  const headers = { Authorization, 'Content-Encoding': 'gzip', 'Content-Type': 'text/plain; charset=utf-8' };
  const body = gzipSync(`mem,host=${HALL} used_percent=52.5 ${AT + 3}000000000\n`);
  expect((await write(body, { path: '/write?consistency=any&db=telegraf', headers })).status).toBe(204);
  expect(await values('mem_used_percent')).toContainEqual([(AT + 3) * 1000, 52.5]);
  expect((await write('q=SHOW+DATABASES', { path: '/query', headers: form })).status).toBe(400);
});

test('rtl_433: measurement and id name the device, without a time', async () => {
  const before = Date.now();
  const line = `Acurite-Tower,id=${ID},channel=A battery_ok=1,temperature_C=22.4,mic="CHECKSUM"\n`;
  const path = `/write?db=rtl433&u=user&p=${server.adminToken}`;
  // It sends this header when it was given no token for it.
  const { status, body } = await write(line, { path, headers: { Authorization: 'Token (null)' } });
  expect([status, body.error]).toEqual([400, expect.stringContaining('line 1: battery_ok: UNKNOWN_FIELD')]);
  const [[at, value] = [0, null]] = await values('temperature_C', 2);
  expect(value).toBe(22.4);
  expect(at).toBeGreaterThanOrEqual(before);
});

test('Arduino clients ask whether the server is there before they write', async () => {
  expect((await fetch(`${server.url}/ping`)).status).toBe(204);
  expect((await fetch(`${server.url}/ping?verbose=true`)).status).toBe(200);
  expect(await (await fetch(`${server.url}/health`)).json()).toMatchObject({ status: 'pass' });
});

test('the same line twice loses nothing; another value at the same moment is told', async () => {
  const line = (value: number): string => `env,device=${HALL} humidity=${value}i ${AT + 7}`;
  const path = '/write?precision=s';
  expect((await write(`${line(1)}\n${line(1)}`, { path })).status).toBe(204);
  const { status, body } = await write(`${line(1)}\n${line(2)}`, { path });
  expect([status, body.error]).toEqual([400, expect.stringContaining('line 1: humidity: DUPLICATE_IN_REQUEST')]);
  expect(await values('humidity')).toContainEqual([(AT + 7) * 1000, 2]);
});
