import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'inlet-linked-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('decoders run where node_modules is a link, which the decoder process may not follow', async () => {
  cpSync('dist', join(folder, 'dist'), { recursive: true });
  cpSync('package.json', join(folder, 'package.json'));
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
  const server = await ServerProcess.start({ DATABASE_URL: `sqlite:${join(folder, 'inlet.db')}` }, { root: folder });
  try {
    const { createProduct: product } = await server.gql<{ createProduct: { id: string } }>(
      'mutation { createProduct(input: { name: "linked" }) { id } }',
    );
    const { testDecoder: run } = await server.gql(
      'mutation ($id: ID!) { testDecoder(productId: $id, source: "function Decoder() { console.log(1 + 1); return [] }", request: { body: "" }) { console error { kind } } }',
      product,
    );
    expect(run).toEqual({ console: ['2'], error: null });
  } finally {
    await server.stop();
  }
});
