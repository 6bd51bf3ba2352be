import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';

describe('a pasted request is told its likely mistake', () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer({ database: 'sqlite' });
  });
  afterAll(() => server?.stop());

  async function send(body: string | Buffer, headers: Record<string, string> = {}) {
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Token ${server.adminToken}`, ...headers },
      body: body as string,
    });
    const answer = (await response.json()) as any;
    return { status: response.status, message: (answer.errors?.[0]?.message ?? answer.detail) as string, answer };
  }

  const QUERY = '{ plans { slug } }';
  const DEEP = `{"query":"${QUERY}","variables":{"a":${'['.repeat(700)}${']'.repeat(700)}}}`;
  const WIDE = JSON.stringify({
    query: QUERY,
    variables: Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`k${at}`, at])),
  });

  test.each([
    ['nothing', '', /body is empty/],
    ['blanks', '  \n', /body is empty/],
    ['a list', `[{"query":"${QUERY}"}]`, /is a list: a request brings one operation/],
    ['an empty list', '[]', /is a list/],
    ['a string', JSON.stringify(QUERY), /is a string/],
    ['a number', '7', /is a number/],
    ['null', 'null', /is null/],
    ['queries', '{"queries":["{ a }"]}', /has no "query", only "queries"/],
    ['other keys', '{"Query":"x","doc":1,"variables":{}}', /has no "query", only "Query", "doc", "variables"/],
    ['an empty object', '{}', /has no "query"\./],
    ['an empty query', '{"query":""}', /"query" is empty/],
    ['a query that is an object', '{"query":{"kind":"Document"}}', /"query" must be the text .* not an object/],
    ['a query that is null', '{"query":null}', /"query" must be the text .* not null/],
    ['a persisted query', '{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"x"}}}', /persisted queries/],
    ['a document', QUERY, /is a GraphQL document, not JSON/],
    ['a named document', `query Q ${QUERY}`, /is a GraphQL document, not JSON/],
    ['a mutation', 'mutation{a}', /is a GraphQL document, not JSON/],
    ['keys without quotes', `{query: "${QUERY}"}`, /must stand in double quotes/],
    ['single quotes', `{'query': '${QUERY}'}`, /must stand in double quotes/],
    ['a cut body', `{"query":"${QUERY}"`, /is not JSON \(.*\)/],
    ['a comma too many', `{"query":"${QUERY}",}`, /is not JSON \(.*\)/],
    ['variables as text', `{"query":"${QUERY}","variables":"{}"}`, /"variables" must be an object, not a string/],
    ['variables as a list', `{"query":"${QUERY}","variables":[]}`, /"variables" must be an object, not a list/],
    ['a deep one', DEEP, /nested deeper than 600 levels/],
    ['very many keys', WIDE, /too many keys/],
  ])('%s', async (name, body, message) => {
    const answer = await send(body);
    expect(answer.status).toBe(400);
    expect(answer.message).toMatch(message);
    // Limits are told to whom they stopped.
    if (!/deep|many/.test(name)) expect(answer.message).not.toMatch(/600|12000/);
    expect(answer.answer.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });

  test.each(['Token', 'Token ', 'Bearer ', 'token', '   ', 'Basic'])('a token that is empty: "%s"', async (header) => {
    for (const path of ['/graphql', '/v1/devices/x/record', '/v1/import']) {
      const response = await fetch(`${server.url}${path}`, {
        method: 'POST',
        headers: { 'Content-Type': path === '/v1/import' ? 'text/csv' : 'application/json', Authorization: header },
        body: JSON.stringify({ query: QUERY }),
      });
      const answer = (await response.json()) as any;
      expect(response.status).toBe(401);
      expect(answer.errors?.[0]?.message ?? answer.detail).toMatch(/no token.*empty/);
    }
  });

  test('a document by GET is looked for in the URL', async () => {
    const response = await fetch(`${server.url}/graphql?queries=x`, {
      headers: { Authorization: `Token ${server.adminToken}` },
    });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('URL has no')]);
  });

  test('a body is read in the charset that it declares, with or without a byte order mark', async () => {
    const body = JSON.stringify({ query: '# Größe\n{ plans { slug } }' });
    for (const [bytes, type] of [
      [Buffer.from(body, 'latin1'), 'application/json; charset=iso-8859-1'],
      [Buffer.from(`\ufeff${body}`), 'application/json'],
      [Buffer.from(`\ufeff${body}`, 'utf16le'), 'application/json; charset=utf-16'],
    ] as const)
      expect((await send(bytes, { 'Content-Type': type })).answer.data.plans).toBeDefined();
    const { status, message } = await send(Buffer.from(body, 'latin1'));
    expect(status).toBe(400);
    expect(message).toMatch(/is not UTF-8.*charset/);
  });
});
