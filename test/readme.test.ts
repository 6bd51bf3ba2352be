import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DATABASES, startServer, type TestServer } from './support/server.ts';

function textOf(page: string): string {
  return readFileSync(new URL(`../${page}`, import.meta.url), 'utf8');
}

/** The block of a page that stands behind a mark such as `<!-- tour -->`. */
function marked(page: string, mark: string): string {
  const found = new RegExp(`<!-- ${mark} -->\n+\`\`\`\\w+\n([^]*?)\`\`\``).exec(textOf(page))?.[1];
  expect(found, `${page} has a block marked ${mark}`).toBeDefined();
  return found!.trim();
}

/** Runs lines as they stand, but for the server's address; what they answered, line by line. */
async function run(server: TestServer, lines: string[], env: Record<string, string> = {}): Promise<any[]> {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-docs-'));
  try {
    const script = lines.join('\n').replaceAll('http://localhost:8080', server.url).split('\n').join('\necho\n');
    const { stdout } = await promisify(execFile)('bash', ['-c', script], {
      cwd: folder,
      env: { PATH: process.env['PATH'], TOKEN: server.adminToken, ...env },
    });
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe.each(DATABASES)('the README’s tour on %s', (database) => {
  test('pasted as it stands creates, records and reads back', async () => {
    const tour = marked('README.md', 'tour');
    const server = await startServer({ database, env: { WRITE_RATE_PER_FIELD: '1' } });
    try {
      // Twice: pasted again, on the same server, it meets no limit and no name that is taken.
      const answers = await run(server, [tour, tour]);
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

describe('what the pages in docs show', () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer({ database: 'sqlite', env: { WRITE_RATE_PER_FIELD: '0' } });
  });
  afterAll(() => server.stop());

  const createProduct = async (input: object): Promise<{ id: string; webhookUrl: string }> => {
    const { createProduct: product } = await server.gql(
      'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id webhookUrl } }',
      { input: { name: 'Pages', fields: [{ identifier: 'temperature', type: 'FLOAT' }], ...input } },
    );
    return product;
  };
  const saveDecoder = (productId: string, source: string): Promise<unknown> =>
    server.gql(
      'mutation ($productId: ID!, $source: String!) { saveDecoder(productId: $productId, source: $source) { version } }',
      {
        productId,
        source,
      },
    );

  test('the lines behind the tour record, read and move files', async () => {
    const pages = ['docs/recording.md', 'docs/graphql.md', 'docs/files.md'];
    const answers = await run(server, [marked('README.md', 'tour'), ...pages.map((page) => marked(page, 'run'))]);
    expect(answers).toHaveLength(5);
    const [, , recorded, read, imported] = answers;
    expect(recorded).toEqual({ stored: 1, rejected: [] });
    expect(read.errors).toBeUndefined();
    const [{ timestamps, values }] = read.data.device.history;
    expect(timestamps).toHaveLength(24);
    expect(values.slice(0, 2)).toEqual([21.5, null]);
    // In the wide layout: the moment of the tour and that of the page.
    expect(imported).toMatchObject({ lines: 2, stored: 2, refused: 0, values: 3, rejected: [] });
  });

  test('the decoder takes the call beside it, and the README has the same', async () => {
    const decoder = marked('docs/decoders.md', 'decoder');
    expect(textOf('README.md')).toContain(decoder);
    const { id, webhookUrl } = await createProduct({});
    await server.gql(
      'mutation ($id: ID!) { createDevices(productId: $id, devices: [{ name: "Hall", serialNumber: "hall-1" }]) { id } }',
      { id },
    );
    await saveDecoder(id, decoder);
    const answers = await run(server, [marked('docs/decoders.md', 'run')], { WEBHOOK: webhookUrl });
    expect(answers).toEqual([{ stored: 1, rejected: 0 }]);
    expect(textOf('docs/decoders.md')).toContain(`\`${JSON.stringify(answers[0])}\``);
  });

  test('every other decoder can be saved', async () => {
    const sources = ['docs/recording.md', 'docs/networks.md'].flatMap((page) =>
      [...textOf(page).matchAll(/```js\n([^]*?)```/g)]
        .map((match) => match[1]!)
        .filter((source) => source.includes('function ')),
    );
    expect(sources).toHaveLength(2);
    for (const source of sources) await saveDecoder((await createProduct({ deviceType: 'LORAWAN' })).id, source);
  });

  test('the dashboard can be saved', async () => {
    const dashboard = JSON.parse(marked('docs/graphql.md', 'dashboard'));
    const { id } = await createProduct({});
    const { updateProduct } = await server.gql(
      'mutation ($id: ID!, $dashboard: JSON!) { updateProduct(id: $id, input: { dashboard: $dashboard }) { dashboard } }',
      { id, dashboard },
    );
    expect(updateProduct.dashboard).toEqual(dashboard);
  });
});
