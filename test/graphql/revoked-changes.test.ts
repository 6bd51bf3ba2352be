import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, DATABASES, startServer, type TestServer } from '../support/server.ts';
import { createToken, createWorkspace } from '../support/tenant.ts';

const ALL = ['READ', 'RECORD', 'CONFIGURE', 'ADMIN'];
const EXAMPLES = 6;
/** Each example takes as long as a run may. */
const SLOW = 'function Decoder() { const start = Date.now(); while (Date.now() - start < 200); return []; }';
const ADD_EXAMPLE =
  'mutation ($id: ID!, $name: String!) { addDecoderExample(productId: $id, name: $name, request: { body: "{}" }, expected: []) { id } }';
const SAVE = 'mutation ($id: ID!, $source: String!) { saveDecoder(productId: $id, source: $source) { version } }';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.each(DATABASES)('what a token began before it lost its right, on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  beforeAll(async () => {
    // On a busy machine a run takes its time.
    server = await startServer({ database, env: { DECODER_TIMEOUT_MS: '8000' } });
    workspaceId = await createWorkspace(server, 'revoked');
  });
  afterAll(() => server?.stop());

  /** The code of its error while the right to it ends, and what became of the decoder. */
  async function saving(end: (id: string) => Promise<unknown>): Promise<unknown> {
    const { id } = await createProduct(server, { workspaceId });
    for (let at = 0; at < EXAMPLES; at += 1) await server.gql(ADD_EXAMPLE, { id, name: `example ${at}` });
    const { id: tokenId, secret } = await createToken(server, server.adminToken, workspaceId, ALL);
    const running = server.query(SAVE, { id, source: SLOW }, secret);
    await pause(400);
    await end(tokenId);
    const { errors } = await running;
    const { product } = await server.gql('query ($id: ID!) { product(id: $id) { decoder { version } } }', { id });
    return { code: errors?.[0]?.extensions.code, decoder: product.decoder };
  }

  test('a decoder whose examples still ran is not saved once the token is revoked', async () => {
    const revoke = (id: string) => server.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id });
    expect(await saving(revoke)).toEqual({ code: 'UNAUTHENTICATED', decoder: null });
  });

  test('nor once it is limited to other products', async () => {
    const { id: other } = await createProduct(server, { workspaceId });
    const limit = (id: string) =>
      server.gql('mutation ($id: ID!, $p: [ID!]) { updateToken(id: $id, input: { productIds: $p }) { id } }', {
        id,
        p: [other],
      });
    expect(await saving(limit)).toEqual({ code: 'NOT_FOUND', decoder: null });
  });

  test('but is saved when something else about it changed', async () => {
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const end = (id: string) =>
      server.gql('mutation ($id: ID!, $at: DateTime) { updateToken(id: $id, input: { expiresAt: $at }) { id } }', {
        id,
        at: later,
      });
    expect(await saving(end)).toEqual({ code: undefined, decoder: { version: 1 } });
  });

  test('an answer with a long list that waited for another one of the token tells nothing of what came since', async () => {
    const { id } = await createProduct(server, { workspaceId });
    for (let at = 0; at < EXAMPLES; at += 1) await server.gql(ADD_EXAMPLE, { id, name: `example ${at}` });
    const { id: tokenId, secret } = await createToken(server, server.adminToken, workspaceId, ALL);
    const devices = (prefix: string) => Array.from({ length: 60 }, (_, at) => ({ name: `${prefix} ${at}` }));
    const create = (name: string, fields: string) =>
      `${name}: createDevices(productId: $id, devices: $${name}, plan: "unlimited") { ${fields} }`;
    // Has the token's place for long lists until the examples of the decoder have run.
    const first = server.query(
      `mutation ($id: ID!, $one: [DeviceInput!]!, $source: String!) {
         ${create('one', 'id')} saveDecoder(productId: $id, source: $source) { version } }`,
      { id, one: devices('one'), source: SLOW },
      secret,
    );
    const count = async (): Promise<number> =>
      (await server.gql('query ($id: ID!) { product(id: $id) { devices { totalCount } } }', { id })).product.devices
        .totalCount;
    await expect.poll(count, { interval: 20 }).toBe(61);
    const second = server.query(
      `mutation ($id: ID!, $two: [DeviceInput!]!) { ${create('two', 'id product { name }')} }`,
      { id, two: devices('two') },
      secret,
    );
    await expect.poll(count, { interval: 20 }).toBe(121);
    await server.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id: tokenId });
    await server.gql('mutation ($id: ID!) { updateProduct(id: $id, input: { name: "secret" }) { id } }', { id });
    expect((await first).errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');
    const { data, errors } = await second;
    expect(JSON.stringify(data)).not.toContain('secret');
    expect(errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');
  });

  test('of a workspace that is being deleted no further product goes once the token is revoked', async () => {
    const doomed = await createWorkspace(server, 'doomed');
    const products = 120;
    const names = Array.from({ length: products }, (_, at) => at);
    for (let at = 0; at < products; at += 20)
      await server.gql(
        `mutation { ${names
          .slice(at, at + 20)
          .map((n) => `p${n}: createProduct(input: { name: "p${n}", workspaceId: "${doomed}" }) { id }`)
          .join('\n')} }`,
      );
    const { id, secret } = await createToken(server, server.adminToken, doomed, ALL);
    const running = server.query('mutation ($id: ID!) { deleteWorkspace(id: $id) }', { id: doomed }, secret);
    const left = async (): Promise<number> =>
      (await server.gql('query ($w: ID!) { products(workspaceId: $w) { totalCount } }', { w: doomed })).products
        .totalCount;
    await expect.poll(left, { interval: 5 }).toBeLessThan(products);
    await server.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id });
    const atRevocation = await left();
    expect((await running).errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');
    const after = await left();
    // One may be under way.
    expect(atRevocation - after).toBeLessThanOrEqual(1);
    expect(after).toBeGreaterThan(0);
  });

  /** The operations that the audit log of the workspace tells of. */
  async function told(w: string): Promise<string[]> {
    const query = 'query ($w: ID!) { auditLog(workspaceId: $w, first: 500) { edges { node { operation } } } }';
    const { auditLog } = await server.gql(query, { w });
    return auditLog.edges.map(({ node }: any) => node.operation);
  }

  test('a replay that ended early is told of in the audit log', async () => {
    const w = await createWorkspace(server, 'replayed');
    const { id: productId, webhookId } = await createProduct(server, { workspaceId: w });
    const calls = Array.from({ length: 60 }, (_, at) =>
      fetch(`${server.url}/integrations/api/${webhookId}/`, { method: 'POST', body: String(1_700_000_000 + at) }),
    );
    for (const { status } of await Promise.all(calls)) expect(status).toBe(202);
    // Whose decoder names `measurements` is replayed call by call.
    const source = `function Decoder(request) { const start = Date.now(); while (Date.now() - start < 50); void measurements;
      return [{ device: "serial-1", field: "temperature", value: 1, timestamp: Number(request.body) }]; }`;
    await server.gql(SAVE, { id: productId, source });
    const { id, secret } = await createToken(server, server.adminToken, w, ALL);
    const replay = 'mutation ($id: ID!) { replayCalls(productId: $id) { calls } }';
    const running = server.query(replay, { id: productId }, secret);
    const progress = 'query ($id: ID!) { product(id: $id) { replayProgress { stored } } }';
    const stored = async (): Promise<number> =>
      (await server.gql(progress, { id: productId })).product.replayProgress?.stored ?? 0;
    await expect.poll(stored, { interval: 5 }).toBeGreaterThan(0);
    await server.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id });
    expect((await running).errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');
    expect(await told(w)).toContain('replayCalls');
  });
});
