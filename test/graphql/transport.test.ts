import { gzipSync } from 'node:zlib';
import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, type GqlAnswer, startServer, type TestServer } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createToken } from '../support/tenant.ts';

interface Answer {
  status: number;
  headers: Headers;
  text: string;
  body: GqlAnswer;
}

describe('POST /graphql', () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer({ database: 'sqlite' });
  });

  afterAll(async () => {
    await server?.stop();
  });

  async function send(body: string, headers: Record<string, string> = {}, method = 'POST'): Promise<Answer> {
    const response = await fetch(`${server.url}/graphql`, {
      method,
      headers: { 'Content-Type': 'application/json', Authorization: `Token ${ADMIN_TOKEN}`, ...headers },
      ...(method === 'GET' ? {} : { body }),
    });
    const text = await response.text();
    let parsed: unknown = null;
    try {
      parsed = JSON.parse(text);
    } catch {
      // Some refusals are no JSON; the test then sees null.
    }
    return { status: response.status, headers: response.headers, text, body: parsed as GqlAnswer };
  }

  async function refusal(
    query: string,
    variables: Record<string, unknown> = {},
  ): Promise<[number, string | undefined]> {
    const { status, body } = await send(JSON.stringify({ query, variables }));
    return [status, body.errors?.[0]?.extensions.code];
  }

  const PLANS = JSON.stringify({ query: '{ plans { slug } }' });

  test.each(['Token', 'token', 'TOKEN', 'Bearer', 'bearer'])('takes the token after the scheme %s', async (scheme) => {
    const { status, body } = await send(PLANS, { Authorization: `${scheme} ${ADMIN_TOKEN}` });
    expect(status).toBe(200);
    expect(body.data?.['plans']).toContainEqual({ slug: 'free' });
  });

  test.each(['application/json', 'application/json; charset=utf-8', 'application/graphql-request+json'])(
    'reads a JSON body that says it is: "%s"',
    async (type) => {
      expect((await send(PLANS, { 'Content-Type': type })).status).toBe(200);
    },
  );

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''])(
    'refuses one that does not, naming the header: "%s"',
    async (type) => {
      const { status, body } = await send(PLANS, { 'Content-Type': type });
      expect([status, body.errors?.[0]?.extensions.code]).toEqual([400, 'BAD_USER_INPUT']);
      expect(body.errors?.[0]?.message).toContain('Content-Type: application/json');
    },
  );

  test('unpacks a packed body, and refuses one that grows over the limit', async () => {
    const packed = (text: string) =>
      fetch(`${server.url}/graphql`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          'Content-Encoding': 'gzip',
          Authorization: `Token ${ADMIN_TOKEN}`,
        },
        body: gzipSync(text),
      });
    expect((await packed(PLANS)).status).toBe(200);
    expect((await packed(JSON.stringify({ query: `{ plans { slug } } # ${'x'.repeat(1_100_000)}` }))).status).toBe(413);
  });

  test('takes queries by GET, and nothing else', async () => {
    const get = async (parameters: Record<string, string>) => {
      const answer = await fetch(`${server.url}/graphql?${new URLSearchParams(parameters)}`, {
        headers: { Authorization: `Token ${ADMIN_TOKEN}` },
      });
      return [answer.status, answer.headers.get('allow'), await answer.json()] as const;
    };
    const [status, , body] = await get({
      query: 'query ($n: Int) { products(first: $n) { edges { cursor } } }',
      variables: '{"n":1}',
    });
    expect([status, body]).toEqual([200, { data: { products: { edges: expect.any(Array) as unknown } } }]);
    expect((await get({ query: 'mutation { createWorkspace(name: "x") { id } }' })).slice(0, 2)).toEqual([405, 'POST']);
    expect((await get({}))[0]).toBe(400);
    expect((await get({ query: '{ plans { slug } }', variables: '{' }))[0]).toBe(400);
  });

  test.each([
    ['no token', ''],
    ['an unknown token', 'Token nobody-has-this-token-0123456789abcdef'],
    ['another scheme', `Basic ${ADMIN_TOKEN}`],
    ['a token without a scheme', ADMIN_TOKEN],
  ])('answers 401 UNAUTHENTICATED for %s, before any resolver runs', async (_, authorization) => {
    const { status, headers, body } = await send(PLANS, { Authorization: authorization });
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('Token');
    expect(body.errors).toHaveLength(1);
    expect(body.errors?.[0]?.extensions).toEqual({ code: 'UNAUTHENTICATED' });
    expect(body.data ?? null).toBeNull();
  });

  test('denies by default: nothing but introspection and signIn is open, however it is wrapped', async () => {
    const ask = async (query: string) => (await send(JSON.stringify({ query }), { Authorization: '' })).status;
    expect(await ask(getIntrospectionQuery())).toBe(200);
    expect(await ask('{ __typename __type(name: "Query") { name } }')).toBe(200);
    expect(await ask('mutation { signIn(email: "a@b.c", password: "x") { secret } }')).toBe(200);
    expect(await ask('{ __typename plans { slug } }')).toBe(401);
    expect(await ask('{ __typename ...F } fragment F on Query { ... on Query { plans { slug } } }')).toBe(401);
    expect(await ask('{ plans @skip(if: true) { slug } }')).toBe(401);
    expect(
      await ask('mutation { signIn(email: "a", password: "b") { secret } createWorkspace(name: "x") { id } }'),
    ).toBe(401);
    expect(await ask('query signIn { plans { slug } }')).toBe(401);
    expect(await ask('{ signIn: plans { slug } }')).toBe(401);
  });

  test.each([
    ['not JSON', '{ plans }', 400],
    ['empty', '', 400],
    ['a batch', `[${PLANS}]`, 400],
    ['a query that is no text', '{"query":{"kind":"Document"}}', 400],
    ['variables that are no object', '{"query":"{ plans { slug } }","variables":[]}', 400],
    ['an unknown operation name', '{"query":"query A { plans { slug } }","operationName":"B"}', 400],
  ])('refuses a body that is %s as BAD_USER_INPUT', async (_, body, status) => {
    const answer = await send(body);
    expect(answer.status).toBe(status);
    expect(answer.body.errors?.map((error) => error.extensions.code)).toEqual(['BAD_USER_INPUT']);
  });

  test('answers a body over the limit with a problem that names the limit', async () => {
    const { status, body } = await send(JSON.stringify({ query: `{ plans { slug } } # ${'x'.repeat(1_100_000)}` }));
    expect(status).toBe(413);
    expect(body).toMatchObject({ code: 'BODY_TOO_LARGE', limit: 1_048_576 });
  });

  test.each(['PUT', 'DELETE'])('answers %s with 405 and Allow', async (method) => {
    const { status, headers } = await send('', {}, method);
    expect([status, headers.get('allow')]).toEqual([405, 'GET, POST']);
  });

  test('names the kind of each mistake and never shows a stack', async () => {
    expect(await refusal('{ plans {')).toEqual([400, 'GRAPHQL_PARSE_FAILED']);
    expect(await refusal('{ nope }')).toEqual([400, 'GRAPHQL_VALIDATION_FAILED']);
    expect(await refusal('query ($id: ID!) { product(id: $id) { id } }')).toEqual([400, 'BAD_USER_INPUT']);
    expect(await refusal('query ($n: Int) { products(first: $n) { edges { cursor } } }', { n: 'x' })).toEqual([
      400,
      'BAD_USER_INPUT',
    ]);
    expect(await refusal('{ product(id: "01a1f900-0000-7000-8000-000000000000") { id } }')).toEqual([200, 'NOT_FOUND']);
    const { text } = await send(JSON.stringify({ query: '{ product(id: "x\\u0000") { id } }' }));
    expect(text).not.toMatch(/stack|node_modules|\.ts:/);
  });

  test('does not run a subscription over HTTP', async () => {
    expect(await refusal('subscription { measurementsRecorded { cursor } }')).toEqual([400, 'BAD_USER_INPUT']);
  });

  test('refuses an operation that is too complex, saying which limit and how far over', async () => {
    const nested = '{ products(first: 500) { edges { node { devices(first: 500) { edges { node { id } } } } } } }';
    const { status, body } = await send(JSON.stringify({ query: nested }));
    expect(status).toBe(400);
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'QUERY_TOO_COMPLEX', limit: 'cost', allowed: 25_000 });
    expect(Number(body.errors?.[0]?.extensions['actual'])).toBeGreaterThan(25_000);
    expect(await refusal(`{ ${'plans { slug } '.repeat(2000)} }`)).toEqual([400, 'QUERY_TOO_COMPLEX']);
    expect(await refusal(`query ($n: Int) ${nested.replace('500', '$n')}`, { n: 500 })).toEqual([
      400,
      'QUERY_TOO_COMPLEX',
    ]);
  });

  test.each([0, -1, 501, 100_000])('refuses first: %i instead of clamping it', async (first) => {
    expect(await refusal(`{ products(first: ${first}) { edges { cursor } } }`)).toEqual([200, 'BAD_USER_INPUT']);
  });

  test.each([
    '',
    'nonsense',
    Buffer.from('["device",1]').toString('base64url'),
    Buffer.from('["product",1.5]').toString('base64url'),
    Buffer.from('["product",{}]').toString('base64url'),
  ])('refuses "%s" as a cursor of products', async (after) => {
    expect(await refusal('query ($a: String) { products(after: $a) { edges { cursor } } }', { a: after })).toEqual([
      200,
      'BAD_USER_INPUT',
    ]);
  });

  test.each([
    '2026-01',
    '2026-01-01T00:00:00',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    'now',
    '',
    1767225600,
    true,
  ])('refuses %j as a DateTime, in a variable and as a literal', async (value) => {
    const { deviceIds } = await createProduct(server);
    const [id] = deviceIds;
    const field = 'history(from: FROM, to: "2100-01-01T00:00:00Z") { values }';
    const asVariable = `query ($f: DateTime!) { device(id: "${id}") { ${field.replace('FROM', '$f')} } }`;
    expect(await refusal(asVariable, { f: value })).toEqual([400, 'BAD_USER_INPUT']);
    const asLiteral = `{ device(id: "${id}") { ${field.replace('FROM', JSON.stringify(value))} } }`;
    expect(await refusal(asLiteral)).toEqual([400, 'BAD_USER_INPUT']);
  });

  test('keeps milliseconds and time zones of a DateTime', async () => {
    const { deviceIds } = await createProduct(server);
    const data = await server.gql(
      `mutation ($d: ID!) { recordMeasurements(deviceId: $d, entries: [
         { field: "temperature", value: 1, timestamp: "2026-03-01T01:00:00.125+01:00" }]) { stored } }`,
      { d: deviceIds[0] },
    );
    expect(data['recordMeasurements'].stored).toBe(1);
    const { device } = await server.gql('query ($d: ID!) { device(id: $d) { latest { timestamp } } }', {
      d: deviceIds[0],
    });
    expect(device.latest).toEqual([{ timestamp: '2026-03-01T00:00:00.125Z' }]);
  });

  test.each([[[1]], [{ a: 1 }], [null]])('refuses %j as a MeasurementValue', async (value) => {
    const { deviceIds } = await createProduct(server);
    const query = `mutation ($d: ID!, $e: [EntryInput!]!) { recordMeasurements(deviceId: $d, entries: $e) { stored } }`;
    const variables = { d: deviceIds[0], e: [{ field: 'temperature', value }] };
    expect(await refusal(query, variables)).toEqual([400, 'BAD_USER_INPUT']);
  });

  test('shows the webhook id and decoder sources only to those who may CONFIGURE', async () => {
    const { workspaces } = await server.gql('{ workspaces { id } }');
    const { id, webhookId } = await createProduct(server, { input: { decoder: 'function Decoder() { return [] }' } });
    await fetch(`${server.url}/integrations/api/${webhookId}/a/b?c=d`, { method: 'POST', body: 'x' });
    const reader = await createToken(server, ADMIN_TOKEN, workspaces[0].id, ['READ']);
    const seen = (fields: string) =>
      server.query(`query ($id: ID!) { product(id: $id) { ${fields} } }`, { id }, reader.secret);
    for (const field of ['webhookId', 'webhookUrl', 'decoder { source }'])
      expect((await seen(field)).errors?.[0]?.extensions.code, field).toBe('FORBIDDEN');
    expect((await seen('decoder { version active }')).data?.['product'].decoder).toEqual({ version: 1, active: true });
    const { data } = await seen('calls { edges { node { path } } }');
    expect(data?.['product'].calls.edges[0].node.path).toBe('/integrations/api/***/a/b');
    const { product } = await server.gql(
      'query ($id: ID!) { product(id: $id) { calls { edges { node { path } } } } }',
      { id },
    );
    expect(product.calls.edges[0].node.path).toBe(`/integrations/api/${webhookId}/a/b`);
  });

  test('forgets what it loaded between the mutations of one operation', async () => {
    const { id } = await createProduct(server, { input: { decoder: 'function Decoder() { return [] }' } });
    const data = await server.gql(
      `mutation ($id: ID!) {
         a: saveDecoder(productId: $id, source: "function Decoder() { return [1] }") { version active }
         b: activateDecoder(productId: $id, version: 1) { version active }
         c: activateDecoder(productId: $id, version: 2) { version active }
       }`,
      { id },
    );
    expect(data).toEqual({
      a: { version: 2, active: true },
      b: { version: 1, active: true },
      c: { version: 2, active: true },
    });
  });
});
