import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createProduct, EITHER_DATABASE, startServer, type TestProduct, type TestServer } from '../support/server.ts';

const FIELDS = { temperature: 'FLOAT', note: 'STRING' };
const START = Date.UTC(2023, 0, 1);
const STEP = 3 * 3_600_000;
/** Some twenty months, more than a part of an import. */
const ROWS = 5_000;
/** Else each format and each layout once whole, or once in two runs. */
const EVERYTHING = process.env['INLET_TESTS'] === 'nightly';

interface Run {
  child: ChildProcess;
  ended: Promise<{ code: number | null; out: string; err: string }>;
}

// `files.test.ts` sees the server's part on both databases: the command is the same.
describe.each(EITHER_DATABASE)('inlet export and import, %s', (database) => {
  let folder: string;
  let server: TestServer;
  let product: TestProduct;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'inlet-transfer-'));
    server = await startServer({ database });
    product = await createProduct(server, { fields: FIELDS, serialNumbers: ['s-1', 's,2"'] });
    for (const id of product.deviceIds) {
      let csv = 'timestamp,temperature,note\n';
      for (let row = 0; row < ROWS; row += 1) {
        const note = row % 50 === 0 ? `"line ${row}\nand ""another"", here"` : row % 3 === 0 ? `n${row}` : '';
        csv += `${START + row * STEP},${Math.sin(row).toFixed(3)},${note}\n`;
      }
      const answer = await fetch(`${server.url}/v1/devices/${id}/import`, {
        method: 'POST',
        headers: { Authorization: `Token ${ADMIN_TOKEN}`, 'Content-Type': 'text/csv' },
        body: csv,
      });
      expect(((await answer.json()) as { refused: number }).refused).toBe(0);
    }
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function inlet(args: string[], { url = server.url, token = ADMIN_TOKEN } = {}): Run {
    const env = { PATH: process.env['PATH'] ?? '', INLET_URL: url, INLET_TOKEN: token, DATABASE_URL: 'nonsense' };
    const child = spawn(process.execPath, ['bin/inlet.mjs', ...args], { env });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    return { child, ended: new Promise((resolve) => child.on('exit', (code) => resolve({ code, out, err }))) };
  }

  /** Killed as soon as something was acknowledged; then once more to its end. */
  async function cutAndResumed(args: string[], place: string, url = server.url): Promise<void> {
    const { child, ended } = inlet(args, { url });
    while (!existsSync(place)) await new Promise((resolve) => setTimeout(resolve, 2));
    child.kill('SIGKILL');
    expect((await ended).code).toBe(null);
    expect(existsSync(place)).toBe(true);
    const { code, err } = await inlet(args, { url }).ended;
    expect(err).toMatch(/goes on (?:behind|at)/);
    expect(code).toBe(0);
    expect(existsSync(place)).toBe(false);
  }

  async function fromServer(path: string): Promise<string> {
    const answer = await fetch(`${server.url}${path}`, { headers: { Authorization: `Token ${ADMIN_TOKEN}` } });
    return answer.text();
  }

  test('inlet import: cut and resumed into an empty server, exported again it is the same file', async () => {
    const other = await startServer({ database });
    onTestFinished(() => other.stop());
    const empty = await createProduct(other, { fields: FIELDS, serialNumbers: ['s-1', 's,2"'] });
    const file = join(folder, 'all.csv');
    expect((await inlet(['export', file, '--product', product.id]).ended).code).toBe(0);
    await cutAndResumed(['import', file], `${file}.import.json`, other.url);
    const again = join(folder, 'again.csv');
    expect((await inlet(['export', again, '--product', empty.id], { url: other.url }).ended).code).toBe(0);
    expect(readFileSync(again).equals(readFileSync(file))).toBe(true);
  });

  test.each(['csv', 'ndjson'])('inlet export: the %s of the server, whole or in two runs', async (format) => {
    for (const layout of ['long', 'wide']) {
      const expected = await fromServer(`/v1/export.${format}?product=${product.id}&layout=${layout}`);
      expect(expected.length).toBeGreaterThan(300_000);
      const options = ['--product', product.id, '--layout', layout];
      // The server's comes device by device, this one month by month.
      const lines = expected.split('\n').toSorted();
      const isCut = (format === 'csv') === (layout === 'wide');
      if (!isCut || EVERYTHING) {
        const whole = join(folder, `whole-${layout}.${format}`);
        const { code, out } = await inlet(['export', whole, ...options]).ended;
        expect(code).toBe(0);
        expect(out).toContain(`${expected.length.toLocaleString('en')} bytes`);
        expect(readFileSync(whole, 'utf8').split('\n').toSorted()).toEqual(lines);
      }
      if (!isCut && !EVERYTHING) continue;
      const packed = join(folder, `cut-${layout}.${format}.gz`);
      await cutAndResumed(['export', packed, ...options], `${packed}.part.json`);
      expect(gunzipSync(readFileSync(packed)).toString().split('\n').toSorted()).toEqual(lines);
    }
  });

  test('inlet export: a range, with one line of headings', async () => {
    const [from, to] = ['2023-03-15T00:00:00Z', '2023-05-02T12:00:00Z'];
    const range = join(folder, 'range.csv');
    const args = ['export', range, '--device', 's-1', '--fields', 'temperature', '--from', from, '--to', to];
    expect((await inlet(args).ended).code).toBe(0);
    const query = new URLSearchParams({ fields: 'temperature', from, to });
    expect(readFileSync(range, 'utf8')).toBe(await fromServer(`/v1/devices/s-1/history.csv?${query}`));
    const empty = join(folder, 'empty.csv');
    const nothing = ['export', empty, '--product', product.id, '--from', '1990-01-01', '--to', '9999-01-01'];
    expect((await inlet([...nothing, '--fields', 'temperature']).ended).code).toBe(0);
    expect(
      readFileSync(empty, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('device')),
    ).toHaveLength(1);
  });

  test('inlet import: says which lines were refused, by their number in the file', async () => {
    const file = join(folder, 'some.csv');
    const lines = Array.from(
      { length: 12_000 },
      (_, row) => `s-1,temperature,${START + row},${row === 11_000 ? 'warm' : row}`,
    );
    lines[11_500] = 'nobody,temperature,0,1';
    writeFileSync(file, `device,field,timestamp,value\n${lines.join('\n')}\n`);
    const { code, out, err } = await inlet(['import', file]).ended;
    expect(code).toBe(1);
    expect(out).toContain('11,998 lines stored, 2 refused');
    expect(err).toMatch(/^line 11002 temperature: INVALID_VALUE/m);
    expect(err).toMatch(/^line 11502: UNKNOWN_DEVICE/m);
    await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { Authorization: `Token ${ADMIN_TOKEN}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        query: `mutation { deleteMeasurements(deviceId: "${product.deviceIds[0]}", from: "2023-01-01T00:00:00.001Z", to: "2023-01-01T00:00:59Z") { measurements } }`,
      }),
    });
  });

  test('what cannot be is said at once: no token, a wrong one, no such device, a file that is there', async () => {
    const file = join(folder, 'none.csv');
    const said = async (args: string[], options = {}): Promise<string> => {
      const { code, err } = await inlet(args, options).ended;
      expect(code).toBe(1);
      return err;
    };
    expect(await said(['export', file], { token: '' })).toContain('INLET_TOKEN');
    expect(await said(['export', file], { token: 'wrong' })).toMatch(/401: This token is unknown/);
    expect(await said(['export', file, '--device', 'nobody'])).toMatch(/history\.ndjson answered 404: .*nobody/);
    expect(existsSync(`${file}.part`)).toBe(false);
    expect(await said(['import', file])).toContain(`there is no file ${file}`);
    expect(await said(['export', file, '--token-file', join(folder, 'none')])).toContain('there is no file');
    expect(await said(['export', join(folder, 'x.txt')])).toContain('--format');
    expect(await said(['export', file, '--token', ADMIN_TOKEN])).toContain('--token');
    for (const url of ['localhost:8080', 'nowhere', 'ftp://localhost'])
      expect(await said(['export', file], { url })).toBe(
        `inlet export: "${url}" is no URL of a server such as http://localhost:8080\n`,
      );
    const broken = await said(['export', file], { token: `${ADMIN_TOKEN}\nx` });
    expect(broken).toContain('line break');
    expect(broken).not.toContain(ADMIN_TOKEN);
    writeFileSync(join(folder, 'old.csv'), 'device,field,timestamp,value\rs-1,temperature,1,1\r');
    expect(await said(['import', join(folder, 'old.csv')])).toContain('not with CR alone');
    writeFileSync(join(folder, 'one.csv'), 'nonsense');
    expect(await said(['import', join(folder, 'one.csv')])).toContain('must name the columns');
    writeFileSync(`${file}.part.json`, '{"of":');
    expect(await said(['export', file])).toContain(`${file}.part.json cannot be read; delete it`);
    writeFileSync(join(folder, 'there.csv'), '');
    expect(await said(['export', join(folder, 'there.csv')])).toContain('is there already');
  });

  test('a server that is away is waited for, and that is said', async () => {
    const { child, ended } = inlet(['export', join(folder, 'away.csv')], { url: 'http://127.0.0.1:65000' });
    child.stderr!.once('data', () => child.kill());
    expect((await ended).err).toMatch(/^http:\/\/127\.0\.0\.1:65000: fetch failed: .*REFUSED.*; trying again\n$/);
  });
});
