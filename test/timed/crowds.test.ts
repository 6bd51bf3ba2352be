import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateLoad, postRequest } from '../bench/generator.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';
import { createToken, createWorkspace } from '../support/tenant.ts';

const FLOOD = fileURLToPath(new URL('../support/flood.ts', import.meta.url));
const CONNECTIONS = 500;
const VALUE = '[{"field":"temperature","value":1}]';
const FIFTEEN = JSON.stringify(
  Array.from({ length: 15 }, (_, at) => ({ field: 'temperature', value: at, timestamp: 1767225600 + at })),
);

// What is heard of connections is the same whatever the database.
describe('connections that ask again as soon as they are answered', () => {
  let server: TestServer;
  let mine: Buffer;
  let theirs: { record: Buffer; unknown: Buffer };

  /** A workspace of its own that sends these values with its token. */
  async function tenant(values: string): Promise<{ record: Buffer; device: string }> {
    const workspaceId = await createWorkspace(server, 'w');
    const { secret } = await createToken(server, server.adminToken, workspaceId, ['RECORD']);
    const { deviceIds } = await createProduct(server, { workspaceId });
    const device = deviceIds[0]!;
    const record = postRequest(`/v1/devices/${device}/record/`, headersOf(secret), values);
    return { record, device };
  }

  beforeAll(async () => {
    server = await startServer({ database: 'sqlite' });
    mine = (await tenant(VALUE)).record;
    const { record, device } = await tenant(FIFTEEN);
    const unknown = postRequest(`/v1/devices/${device}/record/`, headersOf('x'.repeat(43)), VALUE);
    theirs = { record, unknown };
  });
  afterAll(() => server?.stop());

  const get = (path: string): Buffer => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  test.each([
    ['health checks', () => get('/healthz')],
    ['what is not there', () => get('/nothing')],
    ['unknown tokens', () => theirs.unknown],
    ['values of another tenant', () => theirs.record],
  ])('%s: who records beside them has a turn when they have one', async (_what, request) => {
    const { port } = server.process;
    const flood = spawn(process.execPath, [FLOOD, String(port), String(CONNECTIONS)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    try {
      flood.stdin.end(request());
      await once(flood.stdout, 'data');
      const beside = await generateLoad({ port, connections: 4, seconds: 3, next: () => mine });
      flood.kill();
      const [waited] = (await once(flood.stdout, 'data')) as [Buffer];
      expect(beside.failed).toBe(0);
      // Were they all in one line, four connections would wait as long as each of the five hundred.
      expect(beside.p50Ms).toBeLessThan(Number(waited) * 0.8);
    } finally {
      flood.kill('SIGKILL');
    }
  });
});

function headersOf(secret: string): string[] {
  return ['Content-Type: application/json', `Authorization: Token ${secret}`];
}
