import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { DATABASES, startServer } from './support/server.ts';

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

describe.each(DATABASES)('the README’s tour on %s', (database) => {
  test('pasted as it stands creates, records and reads back', async () => {
    const tour = /<!-- tour -->\n+```sh\n([\s\S]*?)```/.exec(README)?.[1];
    expect(tour).toBeDefined();
    const server = await startServer({ database, env: { WRITE_RATE_PER_FIELD: '1' } });
    try {
      const script = tour!.replaceAll('http://localhost:8080', server.url).trim().split('\n').join('\necho\n');
      // Twice: who pastes it again, on the same server, meets no limit and no name that is taken.
      const { stdout } = await promisify(execFile)('bash', ['-c', `${script}\necho\n${script}`], {
        env: { PATH: process.env['PATH'], TOKEN: server.adminToken },
      });
      const answers = stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
      expect(answers).toHaveLength(4);
      for (const [recorded, read] of [answers.slice(0, 2), answers.slice(2)]) {
        expect(recorded).toEqual({ stored: 2, rejected: [] });
        const { device } = read.data;
        expect(device).toMatchObject({ name: 'Hall', online: true });
        expect(device.latest.map((row: any) => [row.field.identifier, row.value])).toEqual([
          ['temperature', 21.5],
          ['door_open', false],
        ]);
        expect(device.history.map((series: any) => series.values)).toEqual([[21.5], [false]]);
      }
    } finally {
      await server.stop();
    }
  });
});
