import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

const FIELDS = { temperature: 'FLOAT', humidity: 'INTEGER', open: 'BOOLEAN', note: 'STRING' };

describe('inlet import --from', () => {
  const id = String(Date.now());
  const [hall, yard] = [`hall-${id}`, `yard-${id}`];
  let folder: string;
  let server: TestServer;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'inlet-others-'));
    server = await startServer({ database: 'sqlite' });
    await createProduct(server, { fields: FIELDS, serialNumbers: [hall, yard] });
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function imported(name: string, text: string | Buffer, args: string[], url = server.url) {
    const file = join(folder, name);
    // The same file goes on where it was cut off.
    if (!existsSync(file)) writeFileSync(file, text);
    const env = { PATH: process.env['PATH'] ?? '', INLET_URL: url, INLET_TOKEN: server.adminToken };
    const child = spawn(process.execPath, ['bin/inlet.mjs', 'import', file, ...args], { env });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const code = await new Promise((resolve) => child.on('exit', resolve));
    return { code, out, err, file };
  }

  async function rows(serial: string, from: string, to: string): Promise<string[]> {
    const url = `${server.url}/v1/devices/${serial}/history.csv?from=${from}&to=${to}`;
    const response = await fetch(url, { headers: { Authorization: `Token ${server.adminToken}` } });
    const lines = (await response.text()).trim().split('\n').slice(1);
    return lines.map((line) => line.slice(serial.length + 1)).toSorted();
  }

  test('CSV of InfluxDB 1, a series at a time and as one table', async () => {
    const series = [
      'name,tags,time,h,note,open,t',
      `env,"device=${hall},room=k 1",1700000000123456789,40,"a, ""b""",true,21.5`,
      'name,tags,time,h,note,open,t',
      `env,"device=${yard},room=",1700000001000000000,,,,1e-7`,
    ];
    const map = ['--map', 't=temperature', '--map', 'h=humidity'];
    const first = await imported('influx.csv', series.join('\n'), ['--from', 'influx', ...map]);
    expect([first.code, first.err]).toEqual([0, '']);
    const [from, to] = ['2023-11-14T22:13:20Z', '2023-11-14T22:13:22Z'];
    const at = '2023-11-14T22:13:20.123Z';
    const stored = [`humidity,${at},40`, `note,${at},"a, ""b"""`, `open,${at},true`, `temperature,${at},21.5`];
    expect(await rows(hall, from, to)).toEqual(stored);
    expect(await rows(yard, from, to)).toEqual(['temperature,2023-11-14T22:13:21.000Z,1e-7']);
    const table = `name,time,device,h,note,open,room,t\nenv,2023-11-14T22:14:20.5Z,${hall},1,x,false,k 1,2\n`;
    const second = await imported('table.csv', table, ['--from', 'influx', ...map, '--map', 'room=']);
    expect([second.code, second.err]).toEqual([0, '']);
    expect(await rows(hall, '2023-11-14T22:14:00Z', '2023-11-14T22:15:00Z')).toHaveLength(4);
  });

  test('annotated CSV of InfluxDB 2', async () => {
    const lines = [
      '#group,false,false,true,true,false,false,true,true,true',
      '#datatype,string,long,dateTime:RFC3339,dateTime:RFC3339,dateTime:RFC3339,double,string,string,string',
      '#default,_result,,,,,,,,',
      ',result,table,_start,_stop,_time,_value,_field,_measurement,host',
      `,,0,2020-01-01T00:00:00Z,2026-01-01T00:00:00Z,2023-01-01T00:00:00.987654321Z,4.5,temperature,env,${hall}`,
      '',
    ];
    const { code, err } = await imported('two.csv', lines.join('\r\n'), ['--from', 'influx']);
    expect([code, err]).toEqual([0, '']);
    expect(await rows(hall, '2023-01-01T00:00:00Z', '2023-01-02T00:00:00Z')).toEqual([
      'temperature,2023-01-01T00:00:00.987Z,4.5',
    ]);
  });

  test('JSON lines of VictoriaMetrics, packed', async () => {
    const lines = [
      {
        metric: { __name__: 'env_t', device: hall },
        values: [1.5, null, 2.5],
        timestamps: [1.66e12, 1.66e12 + 1, 1.66e12 + 2],
      },
      { metric: { __name__: 'env_t', device: yard }, values: [3], timestamps: [1.66e12] },
      { metric: { __name__: 'up', device: yard }, values: [1], timestamps: [1.66e12] },
    ];
    const text = gzipSync(lines.map((line) => JSON.stringify(line)).join('\n'));
    const args = ['--from', 'victoriametrics', '--map', 'env_t=temperature', '--map', 'up='];
    const { code, err } = await imported('metrics.jsonl.gz', text, args);
    expect([code, err]).toEqual([0, '']);
    const range = ['2022-08-08T00:00:00Z', '2022-08-10T00:00:00Z'] as const;
    expect((await rows(hall, ...range)).map((row) => row.split(',')[2])).toEqual(['1.5', '2.5']);
    expect(await rows(yard, ...range)).toHaveLength(1);
  });

  test('CSV of ThingsBoard, with semicolons and a decimal comma', async () => {
    const text = `Timestamp;Entity name;temperature;note\r\n2021-05-01 12:00:00;${hall};21,5;1,5 l\r\n2021-05-01 12:01:00;${hall};;\r\n`;
    const { code, err } = await imported('tb.csv', text, ['--from', 'thingsboard']);
    expect([code, err]).toEqual([0, '']);
    expect(await rows(hall, '2021-05-01T00:00:00Z', '2021-05-02T00:00:00Z')).toEqual([
      'note,2021-05-01T12:00:00.000Z,"1,5 l"',
      'temperature,2021-05-01T12:00:00.000Z,21.5',
    ]);
  });

  test('CSV of Home Assistant: entities become fields of devices', async () => {
    const lines = [
      'entity_id,state,last_changed',
      'sensor.hall_temperature,21.5,2020-05-01T12:00:00.123Z',
      'sensor.hall_temperature,unavailable,2020-05-01T12:01:00.123Z',
      'binary_sensor.door,on,2020-05-01T12:02:00.123Z',
    ];
    const map = ['--map', `sensor.hall_temperature=${hall}/temperature`, '--map', `binary_sensor.door=${yard}/open`];
    const { code, err } = await imported('ha.csv', lines.join('\n'), ['--from', 'homeassistant', ...map]);
    expect([code, err]).toEqual([0, '']);
    const range = ['2020-05-01T00:00:00Z', '2020-05-02T00:00:00Z'] as const;
    expect(await rows(hall, ...range)).toEqual(['temperature,2020-05-01T12:00:00.123Z,21.5']);
    expect(await rows(yard, ...range)).toEqual(['open,2020-05-01T12:02:00.123Z,true']);
  });

  test('a dry run says what would come, and asks no server', async () => {
    const text = `name,time,device,temperature\nenv,1600000000000000000,${hall},1\nenv,1600000060000000000,${hall},2\n`;
    const { code, out, err } = await imported('dry.csv', text, ['--from', 'influx', '--dry-run'], 'http://localhost:1');
    expect([code, err]).toEqual([0, '']);
    expect(out).toBe(`${hall} temperature: 2 values, 2020-09-13T12:26:40.000Z to 2020-09-13T12:27:40.000Z\n`);
  });

  test('refused values are told with their line in the file; the others are stored', async () => {
    const note = '"two\nlines"';
    const lines = [
      'name,time,device,note,wind,temperature',
      `env,1500000000,${hall},${note},3,1`,
      `env,1500000060,${hall},b,,warm`,
    ];
    const { code, err, out } = await imported('refused.csv', lines.join('\n'), ['--from', 'influx', '--time', 's']);
    expect(code).toBe(1);
    expect(err).toMatch(/^line 2 wind: UNKNOWN_FIELD /m);
    expect(err).toMatch(/^line 4 temperature: INVALID_VALUE /m);
    expect(out).toContain('3 values stored, 2 refused');
    const stored = await rows(hall, '2017-07-14T00:00:00Z', '2017-07-15T00:00:00Z');
    // One of the three values has two lines.
    expect(stored.filter((row) => row.includes(',2017'))).toHaveLength(3);
  });

  test('an import that was cut off goes on behind the last acknowledged value', async () => {
    const row = (nth: number): string => `env,${1_400_000_000 + nth},${hall},${nth}`;
    const good = Array.from({ length: 10_000 }, (_, nth) => row(nth));
    const cut = ['name,time,device,temperature', ...good, 'env,1400010000,,5'];
    const args = ['--from', 'influx'];
    const first = await imported('cut.csv', cut.join('\n'), args);
    expect(first).toMatchObject({ code: 1, err: expect.stringContaining('line 10002 names no device') });
    expect(existsSync(`${first.file}.import.json`)).toBe(true);
    const again = await imported('cut.csv', '', args);
    expect(again.err).toContain('goes on behind 10,000 values');
    const other = await imported('cut.csv', '', [...args, '--map', 'x=y']);
    expect(other.err).toContain('something else that was not finished');
  });

  test.each([
    [['--from', 'graphite'], 'expected influx, victoriametrics'],
    [['--from', 'influx', '--map', 'x'], 'expected NAME=FIELD'],
    [['--from', 'influx', '--time', 'd'], 'expected ns, us, ms, s'],
    [['--dry-run'], 'need --from'],
  ])('%j is refused', async (args, message) => {
    const { code, err } = await imported('bad.csv', 'name,time\n', args);
    expect([code, err]).toEqual([1, expect.stringContaining(message)]);
  });
});
