import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

const START = Date.UTC(2023, 0, 1) / 1000;
/** More than the lines that are sent at a time. */
const ROWS = 10_005;

describe('inlet import reads files of other programs', () => {
  let folder: string;
  let server: TestServer;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'inlet-import-'));
    server = await startServer({ database: 'sqlite' });
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function imported(serial: string, bytes: Buffer, args: string[] = []) {
    const file = join(folder, `${serial}.csv`);
    writeFileSync(file, bytes);
    const fields = { temperature: 'FLOAT', note: 'STRING' };
    await createProduct(server, { fields, serialNumbers: [serial] });
    const env = { PATH: process.env['PATH'] ?? '', INLET_URL: server.url, INLET_TOKEN: server.adminToken };
    const child = spawn(process.execPath, ['bin/inlet.mjs', 'import', file, '--device', serial, ...args], { env });
    let err = '';
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    const code = await new Promise((resolve) => child.on('exit', resolve));
    const exported = await fetch(`${server.url}/v1/devices/${serial}/history.csv?layout=wide`, {
      headers: { Authorization: `Token ${server.adminToken}` },
    });
    return { code, err, rows: (await exported.text()).trim().split('\n').slice(1) };
  }

  function lines(last: string): string {
    const rows = Array.from({ length: ROWS - 1 }, (_, row) => `${START + row};${row},5;"Größe;\n${row}"`);
    return ['# a logger', 'Timestamp;Temperature;Note', ...rows, last, ''].join('\r\n');
  }

  test('semicolons, comments and a charset, in every part that is sent', async () => {
    const file = Buffer.from(lines(`${START + ROWS};7,25;ende °`), 'latin1');
    const { code, err, rows } = await imported('semicolons', file, ['--charset', 'iso-8859-1']);
    expect([code, err]).toEqual([0, '']);
    const text = rows.join('\n');
    expect(text.match(/Größe;\n/g)).toHaveLength(ROWS - 1);
    expect(text).toContain('10003.5,');
    expect(rows.at(-1)).toMatch(/,7\.25,ende °$/);
  });

  test('bytes in another charset cost their own lines, told by their number in the file', async () => {
    const file = Buffer.concat([
      Buffer.from(lines(`${START + ROWS};7,25;ende `)),
      Buffer.of(0xb0),
      Buffer.from('\r\n'),
    ]);
    const whole = Buffer.from(file.toString('latin1').replace('ende \r\n°', 'ende °'), 'latin1');
    const { code, err, rows } = await imported('bytes', whole);
    expect(code).toBe(1);
    expect(err).toMatch(new RegExp(`^line ${2 * ROWS + 1} note: INVALID_VALUE "ende \\\\xb0"`, 'm'));
    expect(rows.join('\n').match(/Größe/g)).toHaveLength(ROWS - 1);
    expect(rows.join('\n')).not.toContain('\ufffd');
  });

  test('UTF-16 with a byte order mark', async () => {
    const { code, rows } = await imported(
      'utf16',
      Buffer.from(`\ufeffTimestamp\tNote\r\n${START}\tGröße\r\n`, 'utf16le'),
    );
    expect([code, rows]).toEqual([0, ['utf16,2023-01-01T00:00:00.000Z,,Größe']]);
  });
});
