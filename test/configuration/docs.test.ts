import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

const PAGE = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
const INLET = fileURLToPath(new URL('../../bin/inlet.mjs', import.meta.url));
/** As the page says it is called in the source tree. */
const COMMAND = `inlet() { ${process.execPath} ${INLET} "$@"; }`;

let folder: string;
let staging: TestServer;
let production: TestServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'inlet-recipe-'));
  staging = await startServer({ database: 'sqlite' });
  production = await startServer({ database: 'postgres' });
});
afterAll(async () => {
  await staging?.stop();
  await production?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function run(script: string): Promise<{ stdout: string }> {
  return promisify(execFile)('bash', ['-euc', `${COMMAND}\n${script}`], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      STAGING: staging.url,
      STAGING_TOKEN: staging.adminToken,
      PRODUCTION: production.url,
      PRODUCTION_TOKEN: production.adminToken,
      GIT_AUTHOR_NAME: 'n',
      GIT_AUTHOR_EMAIL: 'n@example.org',
      GIT_COMMITTER_NAME: 'n',
      GIT_COMMITTER_EMAIL: 'n@example.org',
    },
  });
}

test('the recipe, pasted as it stands, takes a workspace from one server to another', async () => {
  await createProduct(staging, { serialNumbers: [], input: { key: 'heating', name: 'Heating' } });
  const recipe = /<!-- recipe -->\n+```sh\n([^]*?)```/.exec(PAGE)![1]!;
  const { stdout } = await run(recipe);
  expect(stdout.match(/^\+ products\[door\]/gm)).toHaveLength(3);
  expect(stdout.match(/^nothing to do$/gm)).toHaveLength(2);
  for (const server of [staging, production]) {
    const { product } = await server.gql('{ product(key: "door") { name webhookUrl decoderExamples { name } } }');
    expect(product).toMatchObject({ name: 'Door contact', decoderExamples: [{ name: 'opened' }] });
  }
  const { products } = await production.gql('{ products { edges { node { key } } } }');
  expect(products.edges.map(({ node }: { node: { key: string } }) => node.key).toSorted()).toEqual(['door', 'heating']);
});

test('the files that the page shows are files that can be applied', async () => {
  const [product, devices, workspace] = [...PAGE.matchAll(/```yaml\n([^]*?)```/g)].map(([, block]) => block!);
  const shown = join(folder, 'shown', 'products');
  mkdirSync(shown, { recursive: true });
  writeFileSync(join(shown, 'soil.yaml'), product!);
  writeFileSync(
    join(shown, 'soil.js'),
    'function Decoder(r) { return [{ device: "d", field: "MOISTURE", value: Number(r.body) }] }',
  );
  await run('inlet config apply shown --url "$STAGING" --token "$STAGING_TOKEN"');
  await staging.gql('mutation { createUser(input: { email: "gardener@example.org" }) { id } }');
  writeFileSync(join(folder, 'shown', 'devices.yaml'), devices!);
  writeFileSync(join(folder, 'shown', 'inlet.yaml'), workspace!);
  const { stdout } = await run('inlet config apply shown --url "$STAGING" --token "$STAGING_TOKEN"');
  expect(stdout).toMatch(/^\+ tokens\["Display in the hall"\]$/m);
  expect(stdout).toMatch(/^\+ devices\["soil\/bed-1"\]$/m);
  expect(stdout).toMatch(/^\+ members\["gardener@example.org"\]$/m);
  await run('inlet config plan shown --url "$STAGING" --token "$STAGING_TOKEN"');
});
