import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { childrenOf, processorMs } from '../support/processor-time.ts';
import { createProduct, EITHER_DATABASE, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { createToken, createWorkspace } from '../support/tenant.ts';

// Each test first sends a whole request, so that the caches know all that is asked of them: the answer about the head is
// then given as soon as it is there.
const BODY = '[{"field":"temperature","value":1,"timestamp":1767225600}]';

/** A request whose body is on its way: the server has the head and all but the last character. */
async function begin(server: TestServer, path: string, headers: string[] = []): Promise<() => Promise<string>> {
  const { hostname, port } = new URL(server.url);
  const socket: Socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
  socket.write(
    [
      `POST ${path} HTTP/1.1`,
      'Host: inlet',
      'Expect: 100-continue',
      `Content-Length: ${BODY.length}`,
      ...headers,
      '',
      '',
    ].join('\r\n'),
  );
  // Node says "continue" before it hands the request on, so one more round trip shows that the server has it in hand.
  while (!answer.includes('100 Continue')) await once(socket, 'data');
  socket.write(BODY.slice(0, -1));
  await fetch(`${server.url}/healthz`);
  answer = '';
  return async () => {
    socket.write(BODY.slice(-1));
    while (!answer.includes('\r\n\r\n')) await once(socket, 'data');
    socket.destroy();
    return answer;
  };
}

describe.each(EITHER_DATABASE)('what authorised a request is asked again when its body is complete, %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  beforeAll(async () => {
    server = await startServer({ alone: true, database, env: { DECODER_TIMEOUT_MS: '60000' } });
    workspaceId = await createWorkspace(server, 'late');
  });
  afterAll(() => server.stop());

  async function storedAt(deviceId: string): Promise<unknown> {
    const { device } = await server.gql('query ($id: ID!) { device(id: $id) { latest { value } } }', { id: deviceId });
    return device.latest[0]?.value ?? null;
  }

  test('a token that is revoked meanwhile stores nothing', async () => {
    const product = await createProduct(server, { workspaceId });
    const token = await createToken(server, ADMIN_TOKEN, workspaceId, ['RECORD']);
    const path = `/v1/devices/${product.deviceIds[0]}/record/`;
    await server.record(product.deviceIds[0]!, [], { token: token.secret });
    const finish = await begin(server, path, [`Authorization: Token ${token.secret}`]);
    await server.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id: token.id });
    expect(await finish()).toMatch(/^HTTP\/1\.1 401 /);
    expect(await storedAt(product.deviceIds[0]!)).toBeNull();
  });

  test('a token that nobody touches stores', async () => {
    const product = await createProduct(server, { workspaceId });
    const path = `/v1/devices/${product.deviceIds[0]}/record/`;
    await server.record(product.deviceIds[0]!, []);
    const finish = await begin(server, path, [`Authorization: Token ${ADMIN_TOKEN}`]);
    expect(await finish()).toMatch(/^HTTP\/1\.1 200 /);
    expect(await storedAt(product.deviceIds[0]!)).toBe(1);
  });

  test('a device that is deleted meanwhile is not found', async () => {
    const product = await createProduct(server, { workspaceId });
    const path = `/v1/devices/${product.deviceIds[0]}/record/`;
    await server.record(product.deviceIds[0]!, []);
    const finish = await begin(server, path, [`Authorization: Token ${ADMIN_TOKEN}`]);
    await server.gql('mutation ($ids: [ID!]!) { deleteDevices(ids: $ids) }', { ids: product.deviceIds });
    expect(await finish()).toMatch(/^HTTP\/1\.1 404 /);
  });

  test('a webhook that is rotated meanwhile is not found, and no call is logged', async () => {
    const product = await createProduct(server, { workspaceId });
    await fetch(`${server.url}/integrations/api/${product.webhookId}/`);
    const finish = await begin(server, `/integrations/api/${product.webhookId}/`);
    await server.gql('mutation ($id: ID!) { rotateWebhook(productId: $id) { id } }', { id: product.id });
    expect(await finish()).toMatch(/^HTTP\/1\.1 404 /);
    const calls = await server.gql(
      'query ($id: ID!) { product(id: $id) { calls { edges { node { id } } } } }',
      product,
    );
    expect(calls['product'].calls.edges).toHaveLength(1);
  });

  /** Takes as many ms as the body says. */
  const SLOW = `function Decoder(request) {
    var end = Date.now() + Number(request.body);
    while (Date.now() < end);
    return [{ device: "one", field: "temperature", value: 1 }, { device: "two", field: "temperature", value: 2 }];
  }`;
  /** How long decoders take: on a busy machine the change comes in between only with a longer one. */
  const LONGER_MS = [150, 600, 2_400, 9_600];

  async function calls(id: string): Promise<{ status: string; run: { entries: { code: string | null }[] } }[]> {
    const query =
      'query ($id: ID!) { product(id: $id) { calls { edges { node { status run { entries { code } } } } } } }';
    const { product } = await server.gql(query, { id });
    return product.calls.edges.map((edge: { node: unknown }) => edge.node);
  }

  const call = (webhookId: string, ms: number): Promise<Response> =>
    fetch(`${server.url}/integrations/api/${webhookId}/`, { method: 'POST', body: String(ms) });
  const decodersMs = (): number =>
    childrenOf(server.process.child.pid!).reduce((sum, pid) => sum + processorMs(pid), 0);

  /** Calls the webhook and makes the change once the decoder computes; gives the status, null when it was done before. */
  async function during(webhookId: string, ms: number, change: () => Promise<unknown>): Promise<number | null> {
    const state = { isDone: false };
    const before = decodersMs();
    const calling = call(webhookId, ms).finally(() => (state.isDone = true));
    while (!state.isDone && decodersMs() < before + 30) await new Promise((resolve) => setTimeout(resolve, 5));
    const isRunning = !state.isDone;
    await change();
    // An answer that was on its way with that of the change is here now.
    await fetch(`${server.url}/healthz`);
    const isBetween = isRunning && !state.isDone;
    const { status } = await calling;
    return isBetween ? status : null;
  }

  /** Makes the change to a product while its decoder runs; gives that product and the call's status. */
  async function between(
    change: (product: TestProduct) => Promise<unknown>,
  ): Promise<{ product: TestProduct; status: number }> {
    for (const ms of LONGER_MS) {
      const input = { decoder: SLOW };
      const product = await createProduct(server, { workspaceId, serialNumbers: ['one', 'two'], input });
      expect((await call(product.webhookId, 0)).status).toBe(200);
      const status = await during(product.webhookId, ms, () => change(product));
      if (status !== null) return { product, status };
    }
    return expect.unreachable('the decoder was always done before the change');
  }

  test('a webhook that is rotated while the decoder runs is not found, and no call is logged', async () => {
    const { product, status } = await between(({ id }) =>
      server.gql('mutation ($id: ID!) { rotateWebhook(productId: $id) { id } }', { id }),
    );
    expect(status).toBe(404);
    expect(await calls(product.id)).toHaveLength(1);
  });

  test('a device that is deleted while the decoder runs gets nothing, and its entry says so', async () => {
    const { product, status } = await between(({ deviceIds }) =>
      server.gql('mutation ($ids: [ID!]!) { deleteDevices(ids: $ids) }', { ids: deviceIds.slice(1) }),
    );
    expect(status).toBe(200);
    const [last] = await calls(product.id);
    expect(last?.status).toBe('PARTLY_STORED');
    expect(last?.run.entries.map(({ code }) => code)).toEqual([null, 'UNKNOWN_DEVICE']);
  });

  test('a token that is revoked while an uplink comes in stores nothing', async () => {
    const product = await createProduct(server, { workspaceId });
    const token = await createToken(server, ADMIN_TOKEN, workspaceId, ['RECORD']);
    await server.record(product.deviceIds[0]!, [], { token: token.secret });
    const finish = await begin(server, '/integrations/lorawan/tti/', [`Authorization: Token ${token.secret}`]);
    await server.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id: token.id });
    expect(await finish()).toMatch(/^HTTP\/1\.1 401 /);
  });
});
