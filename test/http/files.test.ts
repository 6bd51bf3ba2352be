import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  createProduct,
  DATABASES,
  EITHER_DATABASE,
  type GqlAnswer,
  startServer,
  type TestServer,
} from '../support/server.ts';
import { firstPush } from '../support/subscribe.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';

const FIELDS = { temperature: 'FLOAT', count: 'INTEGER', open: 'BOOLEAN', note: 'STRING', place: 'GEOLOCATION' };
const AT = Date.parse('2024-02-29T23:59:58.007Z') / 1000;
const ENTRIES = [
  { field: 'temperature', value: 21.5, timestamp: AT },
  { field: 'temperature', value: -0.1, timestamp: AT + 1 },
  { field: 'temperature', value: 1e-7, timestamp: AT + 3600 },
  { field: 'count', value: 9007199254740991, timestamp: AT },
  { field: 'open', value: true, timestamp: AT },
  { field: 'open', value: false, timestamp: AT + 1 },
  { field: 'note', value: 'a "quoted", text\nof two lines', timestamp: AT },
  { field: 'note', value: '', timestamp: AT + 1 },
  { field: 'note', value: '=cmd|x', timestamp: AT + 2 },
  { field: 'note', value: ' blanks ', timestamp: AT + 3 },
  { field: 'note', value: '12', timestamp: AT + 4 },
  { field: 'place', value: '(51.4,6.9)', timestamp: AT },
];
const LONG = `device,field,timestamp,value
dev-1,temperature,2024-02-29T23:59:58.007Z,21.5
dev-1,temperature,2024-02-29T23:59:59.007Z,-0.1
dev-1,temperature,2024-03-01T00:59:58.007Z,1e-7
dev-1,count,2024-02-29T23:59:58.007Z,9007199254740991
dev-1,open,2024-02-29T23:59:58.007Z,true
dev-1,open,2024-02-29T23:59:59.007Z,false
dev-1,note,2024-02-29T23:59:58.007Z,"a ""quoted"", text
of two lines"
dev-1,note,2024-02-29T23:59:59.007Z,""
dev-1,note,2024-03-01T00:00:00.007Z,=cmd|x
dev-1,note,2024-03-01T00:00:01.007Z," blanks "
dev-1,note,2024-03-01T00:00:02.007Z,12
dev-1,place,2024-02-29T23:59:58.007Z,"(51.4,6.9)"
`;

describe.each(DATABASES)('files on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  let token: string;
  let deviceId: string;

  beforeAll(async () => {
    server = await startServer({ database });
    workspaceId = await createWorkspace(server, 'files');
    ({ token } = await createMember(server, workspaceId, 'ADMIN'));
    const product = await createProduct(server, { token, fields: FIELDS, serialNumbers: ['dev-1'] });
    deviceId = product.deviceIds[0]!;
    const answer = await server.record(deviceId, ENTRIES, { token });
    expect(answer.status).toBe(200);
  });

  afterAll(async () => {
    await server?.stop();
  });

  async function get(path: string, as = token, headers: Record<string, string> = {}) {
    const response = await fetch(`${server.url}${path}`, {
      headers: { Authorization: `Token ${as}`, 'Accept-Encoding': 'identity', ...headers },
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  async function post(
    path: string,
    body: string | Uint8Array,
    type = 'text/csv',
    headers: Record<string, string> = {},
    as = token,
  ) {
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { Authorization: `Token ${as}`, 'Content-Type': type, ...headers },
      body: body as string,
    });
    return { status: response.status, body: (await response.json()) as any };
  }

  async function emptyDevice(serialNumbers = ['dev-1']): Promise<string[]> {
    return (await createProduct(server, { token, fields: FIELDS, serialNumbers })).deviceIds;
  }

  /** For what is decided before the database is asked. */
  const isEither = EITHER_DATABASE.includes(database);
  const onEither = isEither ? test : () => {};

  test('the long layout, by device id and by serial number', async () => {
    const { status, headers, text } = await get(`/v1/devices/${deviceId}/history.csv`);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(text).toBe(LONG);
  });

  test('the wide layout has a row for each time and a column for each field', async () => {
    const { text } = await get(
      `/v1/devices/${deviceId}/history.csv?layout=wide&fields=open,temperature,note&to=2024-03-01`,
    );
    expect(text).toBe(
      'device,timestamp,open,temperature,note\n' +
        'dev-1,2024-02-29T23:59:58.007Z,true,21.5,"a ""quoted"", text\nof two lines"\n' +
        'dev-1,2024-02-29T23:59:59.007Z,false,-0.1,""\n',
    );
  });

  test('NDJSON, long and wide', async () => {
    const long = await get(`/v1/devices/${deviceId}/history.ndjson?fields=open`);
    expect(long.headers.get('content-type')).toBe('application/x-ndjson');
    expect(long.text).toBe(
      '{"device":"dev-1","field":"open","timestamp":"2024-02-29T23:59:58.007Z","value":true}\n' +
        '{"device":"dev-1","field":"open","timestamp":"2024-02-29T23:59:59.007Z","value":false}\n',
    );
    const wide = await get(`/v1/devices/${deviceId}/history.ndjson?layout=wide&fields=open,count`);
    expect(wide.text).toBe(
      '{"device":"dev-1","timestamp":"2024-02-29T23:59:58.007Z","open":true,"count":9007199254740991}\n' +
        '{"device":"dev-1","timestamp":"2024-02-29T23:59:59.007Z","open":false}\n',
    );
  });

  test('from and to as ISO 8601, epoch seconds or milliseconds; start inclusive, end exclusive', async () => {
    const rows = async (range: string): Promise<number> =>
      (await get(`/v1/devices/${deviceId}/history.csv?fields=temperature&${range}`)).text.trim().split('\n').length - 1;
    const [first, second] = [Math.round(AT * 1000), Math.round(AT * 1000) + 1000];
    expect(await rows(`from=${first}&to=${second}`)).toBe(1);
    expect(await rows(`from=${first / 1000}&to=${second / 1000}`)).toBe(1);
    expect(await rows(`from=2024-02-29T23:59:58.007Z&to=2024-03-01T00:59:59%2B01:00`)).toBe(1);
    expect(await rows(`from=2024-03-01`)).toBe(1);
    expect(await rows(`from=${first + 1}`)).toBe(2);
  });

  test('buckets and a choice of points, as charts have them', async () => {
    const path = `/v1/devices/${deviceId}/history.csv?fields=temperature,count&from=2024-02-29&to=2024-03-02`;
    expect((await get(`${path}&resolution=1d`)).text).toBe(
      'device,field,timestamp,value\n' +
        'dev-1,temperature,2024-02-29T00:00:00.000Z,10.7\ndev-1,temperature,2024-03-01T00:00:00.000Z,1e-7\n' +
        'dev-1,count,2024-02-29T00:00:00.000Z,9007199254740991\n',
    );
    expect((await get(`${path}&resolution=1d&layout=wide&timeZone=Asia/Kathmandu`)).text).toContain(
      'device,timestamp,temperature,count\ndev-1,2024-02-29T18:15:00.000Z,',
    );
    expect((await get(`${path}&maxPoints=2`)).text.trim().split('\n').length).toBeLessThanOrEqual(5);
    for (const wrong of ['resolution=7x', 'maxPoints=0', 'timeZone=Europe/Berlin', 'resolution=1d&timeZone=Mars/Base'])
      expect((await get(`${path}&${wrong}`)).status, wrong).toBe(400);
    expect((await get(`/v1/devices/${deviceId}/history.csv?resolution=1d`)).status).toBe(400);
  });

  test('rows of one moment: each field in the same buckets, by its meaning', async () => {
    const path = `/v1/devices/${deviceId}/history.csv?from=2024-02-29&to=2024-03-02&layout=wide`;
    const rows = await get(`${path}&fields=temperature,open,note,place&resolution=1d&aggregation=meaning`);
    expect(rows.text).toBe(
      'device,timestamp,temperature,open,note,place\n' +
        'dev-1,2024-02-29T00:00:00.000Z,10.7,false,"","(51.4,6.9)"\n' +
        'dev-1,2024-03-01T00:00:00.000Z,1e-7,,12,\n',
    );
    const filled = await get(`${path}&fields=temperature,open&resolution=1d&aggregation=LAST&fill=PREVIOUS`);
    expect(filled.text).toContain('dev-1,2024-03-01T00:00:00.000Z,1e-7,false\n');
    const few = await get(`${path}&fields=temperature,open&maxPoints=2&aggregation=MEANING`);
    expect(few.text.trim().split('\n').slice(1)).toHaveLength(2);
    for (const wrong of [
      'resolution=1d&aggregation=MEDIAN',
      'resolution=1d&fill=ZERO',
      'aggregation=MEANING',
      'fill=NONE',
    ])
      expect((await get(`${path}&${wrong}`)).status, wrong).toBe(400);
  });

  test('texts that look like formulas get an apostrophe only when asked for', async () => {
    const path = `/v1/devices/${deviceId}/history.csv?fields=note&from=2024-03-01`;
    expect((await get(path)).text).toContain(',=cmd|x\n');
    expect((await get(`${path}&spreadsheet=true`)).text).toContain(",'=cmd|x\n");
    const numbers = await get(`/v1/devices/${deviceId}/history.csv?fields=temperature&spreadsheet=true`);
    expect(numbers.text).toContain(',-0.1\n');
  });

  onEither('whoever goes away before the first byte leaves no export under way', async () => {
    const head = `GET /v1/devices/${deviceId}/history.csv HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${token}\r\n\r\n`;
    const leave = (): Promise<unknown> => {
      const socket = connect(server.process.port, '127.0.0.1', () => socket.write(head, () => socket.destroy()));
      socket.on('error', () => {});
      return once(socket, 'close');
    };
    for (let round = 0; round < 3; round += 1) await Promise.all(Array.from({ length: 24 }, leave));
    // As many as a token may have at once.
    const all = async (): Promise<number[]> => {
      const answers = Array.from({ length: 8 }, () => get(`/v1/devices/${deviceId}/history.csv`));
      return (await Promise.all(answers)).map(({ status }) => status);
    };
    await expect.poll(all).toEqual(Array(8).fill(200));
  });

  describe('an export that ends behind its first byte', () => {
    /** Long texts: more than what is on the way holds, in few rows. */
    const PER_DEVICE = 12;
    let productId: string;
    let lastDevice: string;

    async function begin(as: string, encoding: string): Promise<IncomingMessage> {
      const headers = { Authorization: `Token ${as}`, 'Accept-Encoding': encoding };
      const request = httpGet(`${server.url}/v1/export.csv?product=${productId}`, { headers });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      response.pause();
      response.on('error', () => {});
      expect(response.statusCode).toBe(200);
      return response;
    }

    /** What was left of it. */
    async function end(response: IncomingMessage): Promise<string> {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
      // It may be over already.
      const closed = new Promise((resolve) => (response.closed ? resolve(null) : response.once('close', resolve)));
      response.resume();
      await closed;
      return text;
    }

    const linesOf = (level: string): unknown[] => server.process.lines.filter((line) => line['level'] === level);
    const breaks = () => server.process.lines.filter(({ msg }) => msg === 'an export broke off');

    beforeAll(async () => {
      const serialNumbers = Array.from({ length: 250 }, (_, at) => `long-${at}`);
      const product = await createProduct(server, { token, fields: { note: 'STRING' }, serialNumbers });
      productId = product.id;
      lastDevice = product.deviceIds.at(-1)!;
      const row = (device: string, at: number): string =>
        JSON.stringify({ device, timestamp: 1e9 + at, note: randomBytes(3_000).toString('base64') });
      const rows = serialNumbers.flatMap((name) => Array.from({ length: PER_DEVICE }, (_, at) => row(name, at)));
      const { status } = await post('/v1/import', gzipSync(rows.join('\n'), { level: 1 }), 'application/x-ndjson', {
        'Content-Encoding': 'gzip',
      });
      expect(status).toBe(200);
    });

    test('because its token was revoked, or limited to other fields, breaks off, with nothing that was recorded afterwards', async () => {
      const errors = linesOf('error').length;
      const reader = await createToken(server, token, workspaceId, ['READ']);
      const response = await begin(reader.secret, 'identity');
      const other = await createToken(server, token, workspaceId, ['READ']);
      const ofOther = await begin(other.secret, 'identity');
      const limit = 'mutation ($id: ID!) { updateToken(id: $id, input: { fields: ["another"] }) { id } }';
      await server.gql(limit, { id: other.id }, token);
      await server.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id: reader.id }, token);
      const late = { field: 'note', value: 'recorded afterwards' };
      expect((await server.record(lastDevice, [late], { token })).status).toBe(200);
      const text = await end(response);
      expect(response.complete).toBe(false);
      expect(text).not.toContain('recorded afterwards');
      expect(await end(ofOther)).not.toContain('recorded afterwards');
      expect(ofOther.complete).toBe(false);
      const codes = (): unknown[] =>
        breaks()
          .slice(-2)
          .map(({ code }) => code);
      await expect.poll(() => codes().toSorted()).toEqual(['FORBIDDEN', 'UNAUTHENTICATED']);
      expect(breaks().slice(-2)).toMatchObject([{ level: 'info' }, { level: 'info' }]);
      expect(linesOf('error').length).toBe(errors);
    });

    /** How it is packed is no matter of the database. */
    const encodings = isEither ? ['identity', 'gzip'] : ['identity'];
    test(`because its product was deleted breaks off without an error, ${encodings.join(' and ')}`, async () => {
      const errors = linesOf('error').length;
      const before = breaks().length;
      const responses = await Promise.all(encodings.map((how) => begin(token, how)));
      await server.gql('mutation ($id: ID!) { deleteProduct(id: $id) }', { id: productId }, token);
      for (const response of responses) {
        await end(response);
        expect(response.complete).toBe(false);
      }
      await expect.poll(() => breaks().length).toBe(before + responses.length);
      for (const broken of breaks().slice(before))
        expect(broken).toMatchObject({ level: 'info', code: expect.stringMatching(/NOT_FOUND/) });
      expect(linesOf('error').length).toBe(errors);
    });
  });

  onEither('gzip when it is accepted', async () => {
    const response = await fetch(`${server.url}/v1/devices/${deviceId}/history.csv`, {
      headers: { Authorization: `Token ${token}`, 'Accept-Encoding': 'gzip' },
    });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(response.headers.get('vary')).toBe('Accept-Encoding, Origin');
    expect(await response.text()).toBe(LONG);
  });

  const wrong: [query: string, word: string][] = [
    ['from=yesterday', 'from'],
    ['from=2024-02-30', 'from'],
    ['from=2025-01-01&to=2024-01-01', 'before'],
    ['layout=tall', 'layout'],
    ['fields=unknown', 'fields'],
    ['spreadsheet=yes', 'spreadsheet'],
    ['field=temperature', 'field'],
    ['from=1&from=2', 'once'],
  ];
  test.each(isEither ? wrong : [])('a wrong parameter is an error that names it: %s', async (query, word) => {
    const { status, text } = await get(`/v1/devices/${deviceId}/history.csv?${query}`);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ code: 'BAD_USER_INPUT', detail: expect.stringContaining(word) });
  });

  test('export of many devices: by product, by tags, in the order of creation, only what the token covers', async () => {
    const { id, deviceIds } = await createProduct(server, {
      token,
      fields: { a: 'FLOAT' },
      serialNumbers: ['m1', 'm2', 'm3'],
    });
    for (const [index, device] of deviceIds.entries())
      await server.record(device, [{ field: 'a', value: index, timestamp: 1_700_000_001 }], { token });
    await server.gql(
      'mutation ($id: ID!) { updateDevice(id: $id, input: { tags: ["north"] }) { id } }',
      { id: deviceIds[1] },
      token,
    );
    const line = (serial: string, value: number): string => `${serial},a,2023-11-14T22:13:21.000Z,${value}\n`;
    const header = 'device,field,timestamp,value\n';
    expect((await get(`/v1/export.csv?product=${id}`)).text).toBe(
      header + line('m1', 0) + line('m2', 1) + line('m3', 2),
    );
    expect((await get(`/v1/export.csv?product=${id}&tag=north`)).text).toBe(header + line('m2', 1));
    expect((await get(`/v1/export.csv?device=${deviceIds[0]}`)).text).toBe(header + line('m1', 0));
    expect((await get(`/v1/export.csv?workspace=${workspaceId}&product=${id}&search=M2`)).text).toBe(
      header + line('m2', 1),
    );
    expect((await get(`/v1/export.csv?product=${id}&online=false`)).text).toBe(header);
    expect((await get(`/v1/export.csv?product=${id}&online=perhaps`)).status).toBe(400);
    expect((await get(`/v1/export.csv?workspace=${id}`)).status).toBe(404);
    const limited = await createToken(server, token, workspaceId, ['READ'], { deviceIds: [deviceIds[2]] });
    expect((await get('/v1/export.csv', limited.secret)).text).toBe(header + line('m3', 2));
    expect((await get(`/v1/export.csv?product=${id}`, limited.secret)).status).toBe(404);
    const writer = await createToken(server, token, workspaceId, ['RECORD']);
    expect((await get(`/v1/export.csv?product=${id}`, writer.secret)).status).toBe(403);
    expect((await get(`/v1/devices/${deviceIds[0]}/history.csv`, limited.secret)).status).toBe(403);
    expect((await fetch(`${server.url}/v1/export.csv`)).status).toBe(401);
  });

  test.each(['csv', 'ndjson'])(
    'export, import into an empty device, export again: the same %s file, long and wide',
    async (kind) => {
      const type = kind === 'csv' ? 'text/csv' : 'application/x-ndjson; charset=utf-8';
      for (const layout of ['long', 'wide']) {
        const file = (await get(`/v1/devices/${deviceId}/history.${kind}?layout=${layout}`)).text;
        const [copy] = await emptyDevice();
        const { status, body } = await post(`/v1/devices/${copy}/import`, file, type);
        expect(status).toBe(200);
        expect(body).toMatchObject({ refused: 0, rejected: [], values: ENTRIES.length });
        expect((await get(`/v1/devices/${copy}/history.${kind}?layout=${layout}`)).text).toBe(file);
        const again = await post(`/v1/devices/${copy}/import`, file, type);
        expect(again.body).toEqual(body);
        expect((await get(`/v1/devices/${copy}/history.${kind}?layout=${layout}`)).text).toBe(file);
      }
    },
  );

  test('each line names its device; refused ones are told by line, the others are stored', async () => {
    const [one, two] = await emptyDevice(['i-1', 'i-2']);
    const csv = [
      'timestamp,device,field,value',
      '1700000000,i-1,temperature,1',
      `1700000000123,${two},temperature,2`,
      '2023-11-14T22:13:20Z,nobody,temperature,3',
      ',i-1,temperature,4',
      '1700000001,i-1,unknown,5',
      '1700000001,i-1,count,5.5',
      '1700000001,i-1,temperature,',
      '1700000001,i-1',
      '99999999999,i-1,temperature,6',
      '"1700000002","i-1","note","x"',
      '',
    ].join('\r\n');
    const { status, body } = await post('/v1/import', csv);
    expect(status).toBe(200);
    expect(body).toMatchObject({ lines: 10, stored: 3, refused: 7, values: 3 });
    expect(body.rejected.map(({ line, code }: any) => [line, code])).toEqual([
      [4, 'UNKNOWN_DEVICE'],
      [5, 'INVALID_TIMESTAMP'],
      [6, 'UNKNOWN_FIELD'],
      [7, 'INVALID_VALUE'],
      [8, 'MISSING_VALUE'],
      [9, 'INVALID_ENTRY'],
      [10, 'TIMESTAMP_IN_FUTURE'],
    ]);
    expect((await get(`/v1/devices/${one}/history.csv`)).text).toBe(
      'device,field,timestamp,value\ni-1,temperature,2023-11-14T22:13:20.000Z,1\ni-1,note,2023-11-14T22:13:22.000Z,x\n',
    );
    expect((await get(`/v1/devices/${two}/history.csv`)).text).toContain('2023-11-14T22:13:20.123Z,2');
  });

  test('a file brings live values as far as anybody could follow them, not what is older', async () => {
    const [device] = await emptyDevice(['live']);
    const query = 'subscription ($d: [ID!]) { measurementsRecorded(deviceIds: $d) { measurements { value } } }';
    const pushed = firstPush(server.url, token, query, { d: [device] });
    const send = (seconds: number, value: number) =>
      post(`/v1/devices/${device}/import`, `timestamp,temperature\n${seconds},${value}\n`);
    const now = Math.floor(Date.now() / 1000);
    const pushes: (GqlAnswer | null)[] = [];
    const told = pushed.then((push) => pushes.push(push));
    // Until somebody listens for sure; one after the other, because what comes together is told together.
    while (pushes.length === 0) {
      await send(now - 7_200, 1);
      await send(now - 60, 2);
    }
    await told;
    expect(pushes[0]?.data?.['measurementsRecorded']).toMatchObject({ measurements: [{ value: 2 }] });
  });

  test('only the first thousand refused lines are listed, all are counted', async () => {
    const lines = Array.from({ length: 1_500 }, (_, at) => `{"device":"none","timestamp":${at},"temperature":1}`);
    const { body } = await post('/v1/import', lines.join('\n'), 'application/x-ndjson');
    expect(body).toMatchObject({ lines: 1500, stored: 0, refused: 1500, values: 0 });
    expect(body.rejected).toHaveLength(1000);
  });

  test('whoever goes away behind a whole file is no database that is away', async () => {
    const lines = Array.from({ length: 7_000 }, (_, at) => `${1_700_000_000 + at},1`);
    const body = ['timestamp,temperature', ...lines].join('\n').slice(0, 60_000);
    const head = `POST /v1/devices/${deviceId}/import HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${token}\r\nContent-Type: text/csv\r\nContent-Length: ${body.length}\r\n\r\n`;
    const leave = (): Promise<unknown> => {
      const socket = connect(server.process.port, '127.0.0.1', () =>
        socket.end(head + body, () => socket.resetAndDestroy()),
      );
      socket.on('error', () => {});
      return once(socket, 'close');
    };
    const before = server.process.lines.length;
    for (let round = 0; round < 3; round += 1) await Promise.all(Array.from({ length: 8 }, leave));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(server.process.lines.slice(before)).toEqual([]);
  });

  onEither(
    'a token has half of the imports that it finds free; whoever has gone behind a small file of much leaves none',
    async () => {
      // Fifty megabytes of empty lines each, which take seconds.
      const body = Buffer.concat(Array(50).fill(gzipSync(Buffer.alloc(1 << 20, '\n'))));
      expect(body.length).toBeLessThan(65_536);
      const head = `POST /v1/devices/${deviceId}/import HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${token}\r\nContent-Type: text/csv\r\nContent-Encoding: gzip\r\nContent-Length: ${body.length}\r\n\r\n`;
      let sockets: Socket[] = [];
      onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
      // Of twelve that come at once eight find a place, and only then something else asks. Places of files before are given
      // back when these are gone.
      const crowd = async (): Promise<number> => {
        for (const socket of sockets) socket.destroy();
        let refused = 0;
        sockets = Array.from({ length: 12 }, () => {
          const socket = connect(server.process.port, '127.0.0.1', () =>
            socket.write(Buffer.concat([Buffer.from(head), body])),
          );
          socket.on('data', (answer) => (refused += String(answer).startsWith('HTTP/1.1 503') ? 1 : 0));
          return socket.on('error', () => {});
        });
        await expect.poll(() => refused).toBeGreaterThanOrEqual(4);
        return refused;
      };
      await expect.poll(crowd).toBe(4);
      const more = () => post(`/v1/devices/${deviceId}/import`, 'timestamp,temperature\n');
      expect((await more()).body.code).toBe('OVERLOADED');
      for (const socket of sockets) socket.destroy();
      const all = async () => (await Promise.all(Array.from({ length: 8 }, more))).map(({ status }) => status);
      await expect.poll(all).toEqual(Array(8).fill(200));
    },
  );

  test('a large gzipped file is streamed in, no write limit applies', async () => {
    const [device] = await emptyDevice(['large']);
    const rows = Array.from({ length: 12_000 }, (_, at) => `${1_600_000_000 + at},${at / 100}`);
    const { status, body } = await post(
      `/v1/devices/${device}/import`,
      gzipSync(`timestamp,temperature\n${rows.join('\n')}`),
      'text/csv',
      { 'Content-Encoding': 'gzip' },
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({ lines: 12_000, stored: 12_000, refused: 0 });
    const { text } = await get(`/v1/devices/${device}/history.csv?fields=temperature`);
    expect(text.trim().split('\n')).toHaveLength(12_001);
    expect(text.trim().split('\n').at(-1)).toBe('large,temperature,2020-09-13T15:46:39.000Z,119.99');
  });

  test('what is no file of its kind, a wrong content type, broken gzip, missing rights', async () => {
    const [device] = await emptyDevice(['wrong']);
    const path = `/v1/devices/${device}/import`;
    expect((await post(path, 'a,b\n1,2\n')).body).toMatchObject({
      status: 400,
      detail: expect.stringContaining('Line 1'),
    });
    expect((await post(path, 'time;note\n1;x\n')).body).toMatchObject({
      detail: expect.stringContaining('with commas, semicolons or tabs between'),
    });
    expect((await post(path, 'timestamp,note\n1,"open\n2,3')).body).toMatchObject({
      detail: expect.stringContaining('quote'),
    });
    expect((await post(path, 'x', 'application/pdf')).body).toMatchObject({
      detail: expect.stringContaining('text/csv'),
    });
    const broken = await post(path, new Uint8Array([1, 2, 3]), 'text/csv', { 'Content-Encoding': 'gzip' });
    expect(broken.body).toMatchObject({ status: 400, code: 'INVALID_BODY' });
    const brotli = await post(path, 'timestamp,note\n1,x\n', 'text/csv', { 'Content-Encoding': 'br' });
    expect(brotli.body).toMatchObject({ status: 400, detail: expect.stringContaining('gzip, deflate') });
    const reader = await createToken(server, token, workspaceId, ['READ', 'RECORD']);
    expect((await post(path, 'timestamp,note\n1,x\n', 'text/csv', {}, reader.secret)).status).toBe(403);
    expect((await post('/v1/import', 'x', 'text/csv', {}, reader.secret)).status).toBe(403);
    const limited = await createToken(server, token, workspaceId, ['CONFIGURE'], { deviceIds: [deviceId] });
    const { body } = await post('/v1/import', `device,timestamp,note\n${device},1,x\n`, 'text/csv', {}, limited.secret);
    expect(body).toMatchObject({ stored: 0, rejected: [{ line: 2, code: 'UNKNOWN_DEVICE' }] });
  });
});
