import { connect } from 'node:net';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createProduct, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { createToken, createWorkspace } from '../support/tenant.ts';

const LIMIT = 4_096;

// Nothing here touches what the two databases do differently.
describe('what senders may not do', () => {
  let server: TestServer;
  let workspaceId: string;
  let product: TestProduct;
  beforeAll(async () => {
    server = await startServer({ database: 'sqlite', env: { MAX_BODY_BYTES: String(LIMIT) } });
    workspaceId = await createWorkspace(server, 'w');
    product = await createProduct(server, { workspaceId });
  });
  afterAll(() => server.stop());

  test('a small body that unpacks to more than the limit is refused like a large one', async () => {
    const body = gzipSync(`[${' '.repeat(LIMIT)}]`);
    expect(body.length).toBeLessThan(LIMIT / 10);
    const answer = await server.record(product.deviceIds[0]!, body, { headers: { 'Content-Encoding': 'gzip' } });
    expect(answer).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE', limit: LIMIT } });
    const fits = gzipSync(`[${' '.repeat(LIMIT - 2)}]`);
    const other = await server.record(product.deviceIds[0]!, fits, { headers: { 'Content-Encoding': 'gzip' } });
    expect(other.status).toBe(200);
  });

  test('who goes on sending after the refusal is cut off', async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.on('error', () => {});
    socket.resume();
    const head = [
      `POST /v1/devices/${product.deviceIds[0]}/record/ HTTP/1.1`,
      'Host: inlet',
      `Authorization: Token ${ADMIN_TOKEN}`,
      'Transfer-Encoding: chunked',
    ];
    socket.write([...head, '', ''].join('\r\n'));
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
    // A megabyte is read and dropped; 64 are more than all buffers on the way hold.
    for (let sent = 0; sent < 1_024 && !socket.closed; sent += 1)
      if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
    await expect.poll(() => socket.closed).toBe(true);
    expect(socket.bytesWritten).toBeLessThan(32 * 1024 * 1024);
  });

  test('a token without the scope is told which kind of credentials would do, as one without a token is', async () => {
    const { secret } = await createToken(server, ADMIN_TOKEN, workspaceId, ['READ']);
    const refused = await server.record(product.deviceIds[0]!, [], { token: secret });
    expect([refused.status, refused.headers.get('WWW-Authenticate')]).toEqual([403, 'Token']);
    const unknown = await server.record(product.deviceIds[0]!, [], { token: null });
    expect([unknown.status, unknown.headers.get('WWW-Authenticate')]).toEqual([401, 'Token']);
  });

  test('a webhook in a query string is no webhook', async () => {
    const response = await fetch(`${server.url}/healthz?next=/integrations/api/${product.webhookId}/`);
    expect(response.status).toBe(200);
    const calls = await server.gql(
      'query ($id: ID!) { product(id: $id) { calls { edges { node { id } } } } }',
      product,
    );
    expect(calls['product'].calls.edges).toEqual([]);
  });
});
