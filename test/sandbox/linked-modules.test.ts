import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import type * as Pool from '../../src/sandbox/decoder-pool.ts';
import { jobOf, outputOf } from './pool.ts';

const folder = mkdtempSync(join(tmpdir(), 'inlet-linked-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('decoders run where node_modules is a link, which the decoder process may not follow', async () => {
  cpSync('dist', join(folder, 'dist'), { recursive: true });
  cpSync('package.json', join(folder, 'package.json'));
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  const module = pathToFileURL(join(folder, 'dist/src/sandbox/decoder-pool.js')).href;
  const { DecoderPool } = (await import(/* @vite-ignore */ module)) as typeof Pool;
  const pool = new DecoderPool({ processes: 1, timeoutMs: 250, memoryMb: 64 });
  try {
    expect(outputOf(await pool.run(jobOf('function Decoder() { return [1]; }')))).toEqual([1]);
  } finally {
    await pool.stop();
  }
});
