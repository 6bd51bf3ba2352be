import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Receiver } from '../support/receiver.ts';
import { startServer, type TestServer } from '../support/server.ts';

const PAGE = readFileSync(new URL('../../docs/outgoing.md', import.meta.url), 'utf8');

let server: TestServer;
let receiver: Receiver;
let folder: string;

beforeAll(async () => {
  server = await startServer({ database: 'sqlite', env: { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' } });
  receiver = await Receiver.start();
  folder = mkdtempSync(join(tmpdir(), 'inlet-outgoing-'));
});
afterAll(async () => {
  await server?.stop();
  receiver?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The first example of the page in a language. */
function example(language: string): string {
  return new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(PAGE)![1]!;
}

test('the endpoint and the check of the page, pasted as they stand, belong together', async () => {
  const mutation = example('graphql').replace('https://example.org/inlet', receiver.url);
  const { createEndpoint } = await server.gql(mutation);
  const file = join(folder, 'check.mjs');
  writeFileSync(file, example('js'));
  const { isGenuine } = (await import(pathToFileURL(file).href)) as {
    isGenuine: (secret: string, headers: Record<string, string>, body: string) => boolean;
  };
  const { id } = createEndpoint.endpoint;
  await server.gql('mutation ($id: ID!) { testEndpoint(id: $id) { id } }', { id });
  await server.gql('mutation ($id: ID!) { rotateEndpointSecret(id: $id) { secret } }', { id });
  await server.gql('mutation ($id: ID!) { testEndpoint(id: $id) { id } }', { id });
  expect(receiver.received).toHaveLength(2);
  for (const { headers, body } of receiver.received) {
    expect(isGenuine(createEndpoint.secret, headers, body)).toBe(true);
    expect(isGenuine(createEndpoint.secret, headers, `${body} `)).toBe(false);
    expect(isGenuine(createEndpoint.secret, { ...headers, 'webhook-timestamp': '1' }, body)).toBe(false);
    expect(isGenuine(`whsec_${Buffer.alloc(32).toString('base64')}`, headers, body)).toBe(false);
  }
});
