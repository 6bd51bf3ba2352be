import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, DATABASES, readAnswer, startServer, type TestServer } from '../support/server.ts';
import { expectPieces, piecesOfServer } from '../support/pieces.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';

const OUTCOME = 'lines created updated kept refusedLines refused { line serialNumber code message }';
const IMPORT = `mutation ($id: ID!, $text: String!, $onExisting: OnExisting, $dryRun: Boolean, $plan: String) {
  importDevices(productId: $id, text: $text, onExisting: $onExisting, dryRun: $dryRun, plan: $plan) { ${OUTCOME} }
}`;
const DEVICES = `query ($id: ID!) { devices(productId: $id, first: 500) { edges { node {
  name serialNumber tags location metadata plan { slug } configuration { field { identifier } value overridden }
} } } }`;

type Row = Record<string, any>;

describe.each(DATABASES)('devices from a file, on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  let token: string;
  beforeAll(async () => {
    server = await startServer({ database });
    workspaceId = await createWorkspace(server, 'files');
    ({ token } = await createMember(server, workspaceId, 'EDITOR'));
  });
  afterAll(async () => {
    await server?.stop();
  });

  async function productOf(input: Row = {}): Promise<string> {
    const { id } = await createProduct(server, { token, serialNumbers: [], input });
    for (const [identifier, type] of [
      ['interval', 'NUMBER'],
      ['label', 'STRING'],
      ['on', 'BOOLEAN'],
    ])
      // oxfmt-ignore
      await server.gql(
        `mutation ($id: ID!) { addConfigurationField(productId: $id, input: { identifier: "${identifier}", type: ${type} }) { id } }`,
        { id },
        token,
      );
    return id;
  }

  async function take(id: string, text: string, more: Row = {}): Promise<Row> {
    const variables = { id, text, plan: 'unlimited', ...more };
    return (await server.gql(IMPORT, variables, token))['importDevices'];
  }

  async function mistake(id: string, text: string, more: Row = {}): Promise<Row> {
    const answer = await server.query(IMPORT, { id, text, plan: 'unlimited', ...more }, token);
    expect(answer.data).toBeNull();
    const { message, extensions } = answer.errors![0]!;
    return { message, ...extensions };
  }

  async function devicesOf(id: string): Promise<Row[]> {
    const { devices } = await server.gql(DEVICES, { id }, token);
    return devices.edges.map(({ node }: Row) => ({
      ...node,
      plan: node.plan.slug,
      configuration: Object.fromEntries(
        node.configuration
          .filter((one: Row) => one['overridden'])
          .map((one: Row) => [one['field'].identifier, one['value']]),
      ),
    }));
  }

  async function post(query: string, body: string | Uint8Array, headers: Record<string, string> = {}, by = token) {
    const response = await fetch(`${server.url}/v1/devices.csv${query}`, {
      method: 'POST',
      headers: { Authorization: `Token ${by}`, 'Content-Type': 'text/csv', ...headers },
      body: body as string,
    });
    return readAnswer(response);
  }

  const first = {
    serialNumber: '70B3D57ED0001234',
    name: 'Pump "1"',
    tags: ['north', 'new'],
    location: 'Hall 2',
    plan: 'standard',
    metadata: { room: '2.14', 'a.b': 'x' },
    configuration: { interval: 900.5, label: '007', on: true },
  };
  const second = {
    serialNumber: 's2',
    name: 's2',
    tags: [],
    location: null,
    plan: 'unlimited',
    metadata: null,
    configuration: {},
  };

  test.each([
    [
      'commas, a mark and quotes',
      '\uFEFFserialNumber,name,tags,location,plan,configuration.interval,configuration.label,configuration.on,metadata.room,metadata.a.b\r\n' +
        '70B3D57ED0001234,"Pump ""1""","north,new",Hall 2,standard,900.5,007,yes,2.14,x\r\ns2,,,,,,,,,\r\n',
    ],
    [
      'semicolons',
      'Serial Number;NAME;tags;location;plan;configuration.interval;configuration.label;configuration.on;metadata.room;metadata.a.b\n' +
        '70B3D57ED0001234; "Pump ""1""" ;north, new;Hall 2;standard;900,5;007;1;2.14;x\ns2;;;;;;;;;'.replaceAll(
          ' "Pump ""1""" ',
          '"Pump ""1"""',
        ),
    ],
    [
      'tabs',
      'serial\tname\ttags\tlocation\tplan\tconfiguration.interval\tconfiguration.label\tconfiguration.on\tmetadata.room\tmetadata.a.b\n' +
        '70B3D57ED0001234\t"Pump ""1"""\tnorth;new\tHall 2\tstandard\t900.5\t007\tTRUE\t2.14\tx\n\ns2\t\t\t\t\t\t\t\t\t\n',
    ],
    ['NDJSON', `${JSON.stringify({ ...first })}\n\n${JSON.stringify({ serial_number: 's2' })}`],
    [
      'NDJSON with dotted keys',
      `${JSON.stringify({ ...first, metadata: undefined, configuration: undefined, tags: 'north;new', 'metadata.room': '2.14', 'metadata.a.b': 'x', 'configuration.interval': 900.5, 'configuration.label': '007', 'configuration.on': true })}\n{"serialNumber":"s2"}\n`,
    ],
  ])('%s are read alike', async (_, text) => {
    const id = await productOf();
    const dry = await take(id, text, { dryRun: true });
    expect(dry).toEqual({ lines: 2, created: 2, updated: 0, kept: 0, refusedLines: 0, refused: [] });
    expect(await devicesOf(id)).toEqual([]);
    expect(await take(id, text)).toEqual(dry);
    expect(await devicesOf(id)).toEqual([first, second]);
    for (const onExisting of ['KEEP', 'UPDATE'])
      expect(await take(id, text, { onExisting })).toEqual({ ...dry, created: 0, kept: 2 });
    expect(await take(id, text)).toMatchObject({ created: 0, refusedLines: 2 });
    await server
      .gql('query ($id: ID!) { devices(productId: $id) { edges { node { id } } } }', { id }, token)
      .then(({ devices }) =>
        server.gql(
          'mutation ($ids: [ID!]!) { deleteDevices(ids: $ids) }',
          { ids: devices.edges.map((e: Row) => e['node'].id) },
          token,
        ),
      );
  });

  test('UPDATE changes what a line gives, "" clears, and what it leaves out stays', async () => {
    const id = await productOf();
    const serial = { ...first, serialNumber: 'u' };
    await take(id, JSON.stringify(serial));
    const update = (text: string) => take(id, text, { onExisting: 'UPDATE' });
    const one = { lines: 1, created: 0, updated: 1, kept: 0, refusedLines: 0, refused: [] };
    expect(await update('serialNumber,name,location,metadata.room,configuration.on\nu,,"",,""')).toEqual(one);
    const without = { ...serial.configuration, on: undefined };
    expect(await devicesOf(id)).toEqual([{ ...serial, location: null, configuration: without }]);
    expect(await update('serialNumber,metadata.room,metadata.floor\nu,"",3')).toEqual(one);
    expect((await devicesOf(id))[0]!['metadata']).toEqual({ 'a.b': 'x', floor: '3' });
    expect(await update('{"serialNumber":"u","metadata":null,"tags":null,"plan":"free","name":"x"}')).toEqual(one);
    expect(await devicesOf(id)).toEqual([
      { ...serial, name: 'x', location: null, configuration: without, metadata: null, tags: [], plan: 'free' },
    ]);
    expect(await update('{"serialNumber":"u","metadata":null,"tags":[],"plan":"free"}')).toMatchObject({ kept: 1 });
  });

  test('lines that are refused say why, and the rest goes in', async () => {
    const id = await productOf({ deviceType: 'LORAWAN' });
    const other = await productOf();
    await take(other, 'serialNumber\n70b3d57ed000bbbb');
    await take(id, 'serialNumber\nthere');
    const lines: [string, string, RegExp][] = [
      ['there,n,,', 'CONFLICT', /the device "there" of the product/],
      ['70-B3-D5-7E-D0-00-BB-BB,n,,', 'CONFLICT', /the device "70b3d57ed000bbbb" of the product/],
      [',n,,', 'BAD_USER_INPUT', /^serialNumber: is missing/],
      ['7.03E+15,n,,', 'BAD_USER_INPUT', /a spreadsheet/],
      ['70b3d57ed000bbb,n,,', 'BAD_USER_INPUT', /15 hexadecimal digits/],
      ['ok,n,,', '', /^$/],
      ['ok,n,,', 'DUPLICATE_IN_REQUEST', /^Line 7 has this serial number/],
      ['a,"",,', 'BAD_USER_INPUT', /^name: cannot be cleared/],
      ['b,n,mega,', 'BAD_USER_INPUT', /^plan: unknown plan "mega"/],
      ['c,n,,many', 'BAD_USER_INPUT', /^configuration\.interval: expected a number/],
      ['d,n', 'INVALID_LINE', /2 columns, the header 4/],
      ['fine,n,,1', '', /^$/],
    ];
    const text = ['serialNumber,name,plan,configuration.interval', ...lines.map(([line]) => line)].join('\n');
    const dry = await take(id, text, { dryRun: true });
    const wrong = lines
      .map(([line, code], at) => ({ line: at + 2, serial: line.split(',')[0], code }))
      .filter(({ code }) => code !== '');
    expect(dry).toMatchObject({ lines: lines.length, created: 2, updated: 0, kept: 0, refusedLines: wrong.length });
    expect(dry['refused'].map(({ line, serialNumber, code }: Row) => ({ line, serialNumber, code }))).toEqual(
      wrong.map(({ line, serial, code }) => ({ line, serialNumber: serial === '' ? null : serial, code })),
    );
    for (const { line, message } of dry['refused'] as Row[]) expect(message).toMatch(lines[line - 2]![2]);
    expect(await take(id, text)).toEqual(dry);
    expect((await devicesOf(id)).map(({ serialNumber }) => serialNumber)).toEqual(['there', 'ok', 'fine']);
  });

  test('lines of NDJSON that are none are refused one by one', async () => {
    const id = await productOf();
    const lines = [
      '{"serialNumber":1234}',
      '{"serialNumber":',
      '[1]',
      '{"serialNumber":"x","dev_eui":"y"}',
      '{"serialNumber":"x","configuration":{"intervall":1}}',
      '{"serialNumber":"x","metadata":[1]}',
      '{"serialNumber":12345678901234567890}',
      '{"name":"none"}',
      '{"serialNumber":"t","tags":["a","a"]}',
    ];
    const { refused, created } = await take(id, lines.join('\n'));
    expect(created).toBe(2);
    expect(refused.map(({ line, code }: Row) => [line, code])).toEqual([
      ...[2, 3, 4, 5, 6].map((line) => [line, 'INVALID_LINE']),
      [8, 'BAD_USER_INPUT'],
      [9, 'BAD_USER_INPUT'],
    ]);
    expect(refused[2].message).toContain('"dev_eui" is no column of devices');
    expect(refused[3].message).toContain('Did you mean "configuration.interval"?');
    const serials = (await devicesOf(id)).map(({ serialNumber }) => serialNumber);
    expect(serials).toEqual(['1234', '12345678901234567890']);
  });

  test.each([
    ['serialNumber,dev_eui,name\na,b,c', /"dev_eui" is no column of devices\. Probably it is the serialNumber/],
    ['serialNumber,colour\na,red', /"colour" is no column of devices\. There are serialNumber, name/],
    ['serialNumber,configuration.nothing\na,1', /the product has no configuration field "nothing"/],
    ['serialNumber,serial\na,b', /"serialNumber" and "serial" say the same/],
    ['name,tags\na,b', /one of the columns must be "serialNumber"\. It was read as "name", "tags"/],
    ['', /The file is empty/],
    ['serialNumber,name\na,"open', /a quote is left open/],
  ])('a file that cannot be read is refused whole: %j', async (text, message) => {
    const id = await productOf();
    expect(await mistake(id, text)).toMatchObject({ code: 'BAD_USER_INPUT', message: expect.stringMatching(message) });
    expect(await devicesOf(id)).toEqual([]);
  });

  test('a plan covers so many lines, in a dry run as for good, over all batches', async () => {
    const workspace = await createWorkspace(server, 'free');
    const { token: by } = await createMember(server, workspace, 'EDITOR');
    const { id } = await createProduct(server, { token: by, serialNumbers: [] });
    const text = ['serialNumber', ...Array.from({ length: 1_200 }, (_, at) => `s${at}`)].join('\n');
    for (const dryRun of [true, false]) {
      const { importDevices } = await server.gql(IMPORT, { id, text, dryRun }, by);
      expect(importDevices).toMatchObject({ lines: 1_200, created: 2, refusedLines: 1_198 });
      expect(importDevices.refused).toHaveLength(1_198);
      expect(importDevices.refused[0]).toMatchObject({ line: 4, serialNumber: 's2', code: 'PLAN_LIMIT' });
    }
  });

  test('the REST door takes it by id and by key, packed or not, and answers as its document says', async () => {
    const id = await productOf({ key: `door-${database}` });
    const text = 'serialNumber,name\nr1,one\nr2,two\n';
    const one = { lines: 2, created: 2, updated: 0, kept: 0, refusedLines: 0, refused: [] };
    const by = `?product=door-${database}&plan=unlimited`;
    expect(await post(`${by}&dryRun=true`, text)).toMatchObject({ status: 200, body: one });
    const packed = await post(by, gzipSync(text), { 'Content-Encoding': 'gzip' });
    expect(packed).toMatchObject({ status: 200, body: one });
    expect(await post(`?productId=${id}&onExisting=keep`, text)).toMatchObject({ body: { created: 0, kept: 2 } });
    const lines = '{"serialNumber":"r1","name":"uno"}\n{"serialNumber":"r1"}';
    const ndjson = await post(`?product=${id}&onExisting=UPDATE`, lines, { 'Content-Type': 'application/x-ndjson' });
    expect(ndjson.body).toMatchObject({ updated: 1, refusedLines: 1 });
    expect(ndjson.body.refused[0]).toMatchObject({ line: 2, serialNumber: 'r1', code: 'DUPLICATE_IN_REQUEST' });
    expect((await devicesOf(id)).map(({ name }) => name)).toEqual(['uno', 'two']);
    for (const [query, status] of [
      ['', 400],
      [`?product=${id}&productId=${id}`, 400],
      [`?product=${id}&onExisting=maybe`, 400],
      [`?product=${id}&dryRun=1`, 400],
      [`?product=${id}&colour=red`, 400],
      ['?product=nothing', 404],
    ] as const)
      expect(await post(query, text)).toMatchObject({ status, body: { status, detail: expect.any(String) } });
    expect((await post(by, 'serialNumber,colour\na,b')).body).toMatchObject({ code: 'BAD_USER_INPUT', lines: 0 });
    const { token: admin } = await createMember(server, workspaceId, 'ADMIN');
    const reader = await createToken(server, admin, workspaceId, ['READ', 'RECORD']);
    expect((await post(by, text, {}, reader.secret)).status).toBe(403);
    const { auditLog } = await server.gql(
      'query ($id: ID!) { auditLog(workspaceId: $id, operation: "importDevices") { edges { node { subjects arguments } } } }',
      { id: workspaceId },
      admin,
    );
    expect(auditLog.edges[0].node.subjects).toEqual([id]);
  });

  test('what needs several transactions goes in, is kept and changed', async () => {
    const count = 1_600;
    const id = await productOf();
    const file = (name: string): string =>
      [
        'serialNumber,name,tags,metadata.n',
        ...Array.from({ length: count }, (_, at) => `s${at},${name} ${at},t,${at}`),
      ].join('\n');
    const by = `?product=${id}&plan=unlimited`;
    expect((await post(by, file('a'))).body).toMatchObject({ lines: count, created: count, refusedLines: 0 });
    expect((await post(`${by}&onExisting=UPDATE`, file('a'))).body).toMatchObject({ kept: count });
    expect((await post(`${by}&onExisting=UPDATE`, file('b'))).body).toMatchObject({ updated: count });
    const again = (await post(by, file('b'))).body;
    expect(again.refused).toHaveLength(count);
    expect(again.refused[count - 1]).toMatchObject({
      line: count + 1,
      serialNumber: `s${count - 1}`,
      code: 'CONFLICT',
    });
  });
});

test('a file of thousands of devices is taken in short pieces, also when it changes all of them', async () => {
  const server = await startServer({ database: 'sqlite', watched: true });
  try {
    const { id } = await createProduct(server, { serialNumbers: [] });
    let round = 0;
    const take = async (): Promise<void> => {
      round += 1;
      const lines = Array.from({ length: 4_000 }, (_, at) => `s${at},name ${at} ${round},a tag,${at + round}`);
      const response = await fetch(`${server.url}/v1/devices.csv?product=${id}&plan=unlimited&onExisting=UPDATE`, {
        method: 'POST',
        headers: { Authorization: `Token ${server.adminToken}`, 'Content-Type': 'text/csv' },
        body: ['serialNumber,name,tags,metadata.n', ...lines].join('\n'),
      });
      expect(await response.json()).toMatchObject({ refusedLines: 0, [round === 1 ? 'created' : 'updated']: 4_000 });
    };
    await take();
    await expectPieces(5, () => piecesOfServer(server, take));
  } finally {
    await server.stop();
  }
});
