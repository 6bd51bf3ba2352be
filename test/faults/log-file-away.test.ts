import type * as fs from 'node:fs';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { LogOutput } from '../../src/log-output.ts';

const network = vi.hoisted(() => ({ isAway: false }));
vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>();
  const write = (fd: number, piece: Buffer, done: (error: Error | null, written: number) => void): void =>
    network.isAway ? done(Object.assign(new Error('away'), { code: 'ETIMEDOUT' }), 0) : real.write(fd, piece, done);
  return { ...real, write };
});

test('a file on another machine that was away for a while has all lines when it is back', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-log-'));
  const path = join(folder, 'inlet.log');
  const fd = openSync(path, 'a');
  const output = new LogOutput(fd);
  network.isAway = true;
  output.write('one\n');
  network.isAway = false;
  output.write('two\n');
  await expect.poll(() => readFileSync(path, 'utf8')).toBe('one\ntwo\n');
  closeSync(fd);
  rmSync(folder, { recursive: true });
});
