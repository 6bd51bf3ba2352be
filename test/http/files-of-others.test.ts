import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

const FIELDS = { temperature: 'FLOAT', count: 'INTEGER', open: 'BOOLEAN', note: 'STRING' };
const AT = '2026-11-20T12:00:00Z';

/** Files that other programs write, as they are sent to one device; SQL is not touched. */
describe('files of other programs', () => {
  let server: TestServer;
  let productId: string;
  let count = 0;

  beforeAll(async () => {
    server = await startServer({ database: 'sqlite' });
    productId = (await createProduct(server, { fields: FIELDS, serialNumbers: [] })).id;
  });
  afterAll(() => server?.stop());

  async function send(body: string | Buffer, type = 'text/csv', path?: string) {
    const serialNumber = `d-${(count += 1)}`;
    const { createDevices } = await server.gql<{ createDevices: { id: string }[] }>(
      'mutation ($p: ID!, $s: String!) { createDevices(productId: $p, devices: [{ name: "d", serialNumber: $s }], plan: "unlimited") { id } }',
      { p: productId, s: serialNumber },
    );
    const device = createDevices[0]!.id;
    const headers = { Authorization: `Token ${server.adminToken}` };
    const response = await fetch(`${server.url}${path ?? `/v1/devices/${device}/import`}`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': type },
      body: body as string,
    });
    const answer = (await response.json()) as any;
    const exported = await fetch(`${server.url}/v1/devices/${device}/history.csv`, { headers });
    const rows = (await exported.text()).trim().split('\n').slice(1);
    return { status: response.status, answer, values: rows.map((row) => row.replace(/^[^,]*,([^,]*),[^,]*,/, '$1=')) };
  }

  test.each([
    ['semicolons', `timestamp;temperature\n${AT};21.5\n`],
    ['tabs', `timestamp\ttemperature\n${AT}\t21.5\n`],
    ['capitals, quotes and a byte order mark', `\ufeff"Timestamp","Temperature"\n"${AT}","21.5"\n`],
    ['TIMESTAMP', `TIMESTAMP,temperature\r\n${AT},21.5\r\n`],
    ['sep=; first', `sep=;\ntimestamp;temperature\n${AT};21.5\n`],
    ['"sep=|" first', `"sep=|"\r\ntimestamp|temperature\r\n${AT}|21.5\r\n`],
    ['comments first', `# a logger, 2 channels\n\n#timestamp;x\ntimestamp,temperature\n${AT},21.5\n`],
    ['blanks around headings and cells', `timestamp , temperature\n${AT} , 21.5\n`],
    ['the long layout with blanks', `timestamp, field, value\n${AT}, temperature, 21.5\n`],
    ['the long layout with semicolons', `Timestamp;Field;Value\n${AT};temperature;21,5\n`],
    ['a decimal comma between semicolons', `timestamp;temperature\n${AT};21,5\n`],
    ['more columns in the long layout', `device,product,field,unit,timestamp,value\nx,p,temperature,C,${AT},21.5\n`],
    ['one more column behind', `timestamp,field,value,unit\n${AT},temperature,21.5,C\n`],
    ['blanks and quotes', `"timestamp"; "temperature" \n${AT};21.5`],
    ['no line break at the end', `timestamp;temperature\n${AT};21.5`],
  ])('%s are read', async (_, file) => {
    const { status, answer, values } = await send(file);
    expect(answer).toMatchObject({ lines: 1, stored: 1, refused: 0, values: 1 });
    expect(status).toBe(200);
    expect(values).toEqual(['temperature=21.5']);
  });

  test('a text with a comma between semicolons stays as it is, also one that looks like a number', async () => {
    const { values } = await send(`timestamp;note;temperature;count\n${AT};1,5;-0,25;"2,0"\n`);
    expect(values.toSorted()).toEqual(['count=2', 'note="1,5"', 'temperature=-0.25']);
  });

  test('a comma that may stand between thousands is refused, saying so', async () => {
    const { answer } = await send(`timestamp;temperature\n${AT};1,234\n`);
    expect(answer).toMatchObject({ stored: 0, rejected: [{ line: 2, code: 'INVALID_VALUE' }] });
    expect(answer.rejected[0].message).toMatch(/"1,234".*between thousands/);
    const quoted = await send(`timestamp,temperature\n${AT},"21,5"\n`);
    expect(quoted.answer.rejected[0].message).toMatch(/"21,5".*decimal point/);
  });

  test.each(['utf16le', 'utf16be'])('UTF-16 is read, with a byte order mark and without: %s', async (kind) => {
    for (const mark of ['\ufeff', '']) {
      const bytes = Buffer.from(`${mark}timestamp\tnote\n${AT}\tGröße 💡\n`, 'utf16le');
      const { values } = await send(kind === 'utf16be' ? bytes.swap16() : bytes);
      expect(values).toEqual(['note=Größe 💡']);
    }
  });

  test.each([
    [
      'entity_id,state,last_changed',
      /"entity_id", "state", "last_changed"/,
      /"last_changed" timestamp, "entity_id" device, "state" value/,
    ],
    ['statistic_id,unit,start,mean', /"statistic_id", "unit", "start", "mean"/, /"start" timestamp/],
    ['name,tags,time,usage', /"name", "tags", "time", "usage"/, /"time" timestamp/],
    ['Time stamp;temperature', /"Time stamp", "temperature"/, /"Time stamp" timestamp/],
    ['Time (UTC),Temp', /"Time \(UTC\)", "Temp"/, /"Time \(UTC\)" timestamp/],
    ['a,b', /It was read as "a", "b"/, /device,field,timestamp,value/],
    [`${AT},21.5`, /It was read as "2026-11-20T12:00:00Z", "21.5"/, /must name the columns/],
    ['timestamp|temperature', /It was read as "timestamp\|temperature"/, /commas, semicolons or tabs/],
  ])('headings that name no time are shown as they were read: %s', async (headings, read, meant) => {
    const { status, answer } = await send(`# of a program\n${headings}\n1,2,3\n`);
    expect([status, answer.code]).toEqual([400, 'BAD_USER_INPUT']);
    expect(answer.detail).toMatch(/^Line 2 must/);
    expect(answer.detail).toMatch(read);
    expect(answer.detail).toMatch(meant);
  });

  test.each([
    ['timestamp,field,value,value', 'value'],
    ['timestamp,a,a', 'a'],
    ['timestamp, a,a ', 'a'],
    ['timestamp;timestamp;a', 'timestamp'],
    ['device,timestamp,temperature,temperature', 'temperature'],
  ])('a column that is there twice is refused by its name: %s', async (headings, name) => {
    const { status, answer } = await send(`${headings}\n${AT},1,2,3\n`);
    expect([status, answer.code]).toEqual([400, 'BAD_USER_INPUT']);
    expect(answer.detail).toContain(`"${name}" twice`);
    expect(answer).toMatchObject({ stored: 0, values: 0 });
  });

  test('two headings for one field in different letters: one is the field, the other is told', async () => {
    const { answer, values } = await send(`timestamp,temperature,Temperature\n${AT},1,2\n`);
    expect(values).toEqual(['temperature=1']);
    expect(answer.rejected).toMatchObject([{ field: 'Temperature', code: 'UNKNOWN_FIELD' }]);
    expect(answer.rejected[0].message).toContain('Is "temperature" meant?');
    expect((await send(`timestamp,TEMPERATURE,Temperature\n${AT},1,2\n`)).values).toEqual([]);
  });

  test('the field that was nearly named is told, also in the long layout', async () => {
    const { answer } = await send(`timestamp,field,value\n${AT},temprature,1\n${AT},Temperature,1\n`);
    for (const { message } of answer.rejected) expect(message).toContain('Is "temperature" meant?');
    expect(answer).toMatchObject({ stored: 0, refused: 2 });
  });

  test('fields that are called field and value, Device and Timestamp come back from their own export', async () => {
    const names = ['field', 'value', 'device', 'timestamp', 'Value', 'temperature'];
    const fields = Object.fromEntries(names.map((name) => [name, 'FLOAT']));
    const { deviceIds } = await createProduct(server, { fields, serialNumbers: ['own-1', 'own-2'] });
    const entries = names.map((field, value) => ({ field, value, timestamp: Date.parse(AT) / 1000 }));
    expect((await server.record(deviceIds[0]!, entries)).body).toEqual({ stored: 6, rejected: [] });
    const headers = { Authorization: `Token ${server.adminToken}` };
    const wide = await (
      await fetch(`${server.url}/v1/devices/${deviceIds[0]}/history.csv?layout=wide`, { headers })
    ).text();
    const answer = await fetch(`${server.url}/v1/devices/${deviceIds[1]}/import`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'text/csv' },
      body: wide,
    });
    expect(await answer.json()).toMatchObject({ stored: 1, refused: 0, values: 6 });
    const json = `{"timestamp":"${AT}","field":7,"value":8,"temperature":9}\n`;
    expect((await send(json, 'application/x-ndjson', `/v1/devices/${deviceIds[1]}/import`)).answer).toMatchObject({
      values: 3,
      refused: 0,
    });
  });

  test('NDJSON in the long layout may have other keys beside', async () => {
    const line = JSON.stringify({ timestamp: AT, field: 'temperature', value: 21.5, unit: 'C', product: 'p' });
    expect((await send(`\ufeff${line}\n`, 'application/x-ndjson')).values).toEqual(['temperature=21.5']);
  });

  test('NDJSON with capitals in the keys of the layout', async () => {
    const long = JSON.stringify({ Timestamp: AT, Field: 'temperature', Value: 21.5, Unit: 'C' });
    expect((await send(`${long}\n`, 'application/x-ndjson')).values).toEqual(['temperature=21.5']);
    const wide = JSON.stringify({ Device: 'x', TimeStamp: AT, temperature: 21.5 });
    expect((await send(`${wide}\n`, 'application/x-ndjson')).values).toEqual(['temperature=21.5']);
    const both = JSON.stringify({ Timestamp: AT, TIMESTAMP: AT, temperature: 21.5 });
    expect((await send(`${both}\n`, 'application/x-ndjson')).answer.rejected[0].code).toBe('INVALID_TIMESTAMP');
  });

  describe('charsets', () => {
    const csv = `timestamp,note\n${AT},Größe 5 °C\n`;
    const json = `{"timestamp":"${AT}","note":"Größe 5 °C"}\n`;
    const latin = (text: string): Buffer => Buffer.from(text, 'latin1');

    test.each([
      ['iso-8859-1', latin(csv)],
      ['"ISO-8859-1"', latin(csv)],
      ['windows-1252', latin(csv)],
      ['utf-16', Buffer.from(csv, 'utf16le')],
      ['UTF-16BE', Buffer.from(csv, 'utf16le').swap16()],
      ['utf8', Buffer.from(csv)],
    ])('a declared one is read: %s', async (charset, file) => {
      expect((await send(file, `text/csv; charset=${charset}`)).values).toEqual(['note=Größe 5 °C']);
    });

    test('windows-1252 has characters where latin1 has none', async () => {
      const file = Buffer.concat([
        Buffer.from(`timestamp,note\n${AT},`),
        Buffer.of(0x80, 0x96, 0x85),
        Buffer.from('\n'),
      ]);
      expect((await send(file, 'text/csv; charset=windows-1252')).values).toEqual(['note=€–…']);
    });

    test('NDJSON in a declared charset', async () => {
      expect((await send(latin(json), 'application/x-ndjson; charset=latin1')).values).toEqual(['note=Größe 5 °C']);
    });

    test.each(['text/csv', 'text/csv; charset=utf-8', 'application/x-ndjson'])(
      'bytes that are not UTF-8 cost their own line alone, which names them: %s',
      async (type) => {
        const good = AT.replace('12:', '13:');
        const file = type.startsWith('text')
          ? `${csv}${good},fine\n`
          : `${json}{"timestamp":"${good}","note":"fine"}\n`;
        const { answer, values } = await send(latin(file), type);
        expect(values).toEqual(['note=fine']);
        expect(answer).toMatchObject({ stored: 1, refused: 1 });
        expect(answer.rejected).toMatchObject([{ field: 'note', code: 'INVALID_VALUE' }]);
        expect(answer.rejected[0].message).toContain('"Gr\\xf6\\xdfe 5 \\xb0C"');
        expect(answer.rejected[0].message).toMatch(/charset/);
      },
    );

    test('an unknown charset is refused, naming some that are known', async () => {
      const { status, answer } = await send(csv, 'text/csv; charset=klingon');
      expect([status, answer.code]).toEqual([400, 'INVALID_BODY']);
      expect(answer.detail).toMatch(/"klingon".*utf-8.*iso-8859-1.*windows-125/);
    });

    test('what is packed is told', async () => {
      expect((await send(Buffer.from('1f8b080000', 'hex'))).answer.detail).toContain('Content-Encoding: gzip');
      expect((await send(Buffer.from('PK\u0003\u0004 sheet'))).answer.detail).toContain('.xlsx');
    });

    test('a character may come in pieces', async () => {
      const bytes = Buffer.from(csv.replace('Größe', 'Größe 漢字💡'));
      const stream = new ReadableStream({
        async start(controller) {
          for (const byte of bytes) {
            controller.enqueue(new Uint8Array([byte]));
            await new Promise(setImmediate);
          }
          controller.close();
        },
      });
      const { deviceIds } = await createProduct(server, { fields: FIELDS, serialNumbers: ['pieces'] });
      const headers = { Authorization: `Token ${server.adminToken}` };
      const response = await fetch(`${server.url}/v1/devices/${deviceIds[0]}/import`, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'text/csv' },
        body: stream,
        duplex: 'half',
      } as RequestInit);
      expect(await response.json()).toMatchObject({ stored: 1, refused: 0 });
      const exported = await fetch(`${server.url}/v1/devices/${deviceIds[0]}/history.csv`, { headers });
      expect(await exported.text()).toContain('Größe 漢字💡 5 °C');
    });
  });
});
