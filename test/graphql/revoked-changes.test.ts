import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, DATABASES, startServer, type TestServer } from '../support/server.ts';
import { createToken, createWorkspace } from '../support/tenant.ts';

const ALL = ['READ', 'RECORD', 'CONFIGURE', 'ADMIN'];
/** Time for the right to end at first; on a slow machine it is tried again with twice as much. */
const LEAST_MS = 400;
const MOST_MS = 50_000;
const slow = (ms: number): string =>
  `function Decoder() { const start = Date.now(); while (Date.now() - start < ${ms}); return []; }`;
const ADD_EXAMPLE =
  'mutation ($id: ID!, $name: String!) { addDecoderExample(productId: $id, name: $name, request: { body: "{}" }, expected: []) { id } }';
const SAVE = 'mutation ($id: ID!, $source: String!) { saveDecoder(productId: $id, source: $source) { version } }';

describe.each(DATABASES)('what a token began before it lost its right, on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  beforeAll(async () => {
    server = await startServer({ database, env: { DECODER_TIMEOUT_MS: '60000' } });
    workspaceId = await createWorkspace(server, 'revoked');
  });
  afterAll(() => server?.stop());

  /** A product whose decoders are tried with an example, and a token of its workspace. */
  async function prepared() {
    const { id } = await createProduct(server, { workspaceId });
    await server.gql(ADD_EXAMPLE, { id, name: 'example' });
    const { id: tokenId, secret } = await createToken(server, server.adminToken, workspaceId, ALL);
    return { id, tokenId, secret };
  }

  /** The outcome of the first try whose change was made before the example, which takes so many ms, can have ended. */
  async function inTime<T>(attempt: (ms: number, changed: () => void) => Promise<T>): Promise<T> {
    for (let ms = LEAST_MS; ; ms *= 2) {
      const from = performance.now();
      let isInTime = false;
      const outcome = await attempt(ms, () => (isInTime = performance.now() - from < ms));
      if (isInTime) return outcome;
      expect(ms).toBeLessThan(MOST_MS);
    }
  }

  /** The code of its error while the right to it ends, and what became of the decoder. */
  const saving = (end: (id: string) => Promise<unknown>): Promise<unknown> =>
    inTime(async (ms, changed) => {
      const { id, tokenId, secret } = await prepared();
      const document = SAVE.replace(
        '{ saveDecoder',
        '{ updateProduct(id: $id, input: { name: "begun" }) { id } saveDecoder',
      );
      const running = server.query(document, { id, source: slow(ms) }, secret);
      const shown = async () =>
        (await server.gql('query ($id: ID!) { product(id: $id) { name decoder { version } } }', { id })).product;
      await expect.poll(async () => (await shown()).name, { interval: 5 }).toBe('begun');
      await end(tokenId);
      changed();
      const { errors } = await running;
      return { code: errors?.[0]?.extensions.code, decoder: (await shown()).decoder };
    });

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
