import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProduct, startServer, type TestProduct, type TestServer } from '../support/server.ts';

interface Document {
  openapi: string;
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, { schema: { $ref: string } }> }> }>
  >;
  components: { schemas: Record<string, { required: string[]; properties: Record<string, unknown> }> };
}

let server: TestServer;
let product: TestProduct;
let document: Document;

beforeAll(async () => {
  server = await startServer({ database: 'sqlite', env: { MAX_BODY_BYTES: '2000' } });
  product = await createProduct(server, { serialNumbers: ['one'] });
  document = (await (await fetch(`${server.url}/v1/openapi.json`)).json()) as Document;
});
afterAll(() => server.stop());

test('describes every path that it names, and nothing that is not there', async () => {
  expect(document.openapi).toBe('3.1.0');
  for (const [path, methods] of Object.entries(document.paths))
    for (const method of ['get', 'post'].filter((name) => name in methods)) {
      const url = server.url + path.replace('{device}', product.deviceIds[0]!).replace('{webhook}', product.webhookId);
      const headers = { Authorization: `Token ${server.adminToken}` };
      const response = await fetch(url, { method: method.toUpperCase(), headers });
      const body = await response.text();
      expect(body, `${method} ${path}`).not.toContain('There is nothing at');
      expect(Object.keys(methods[method]!.responses), `${method} ${path}: ${body}`).toContain(String(response.status));
    }
});

test('names every status of the record endpoint, with the bodies that are answered', async () => {
  const device = product.deviceIds[0]!;
  const { workspaces } = await server.gql('{ workspaces { id } }');
  const input = { name: 'r', kind: 'INDIVIDUAL', workspaceId: workspaces[0].id, scopes: ['READ'] };
  const { createToken } = await server.gql(
    'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret } }',
    { input },
  );
  const twin = await createProduct(server, { serialNumbers: ['one'] });
  const good = { field: 'temperature', value: 1, timestamp: 1_700_000_005 };
  const limit = (perSecond: number): Promise<unknown> =>
    server.gql('mutation ($id: ID!, $perSecond: Float) { setWriteRate(deviceId: $id, perSecond: $perSecond) }', {
      id: twin.deviceIds[0],
      perSecond,
    });
  const asked = {
    200: () => server.record(device, good),
    207: () => server.record(device, [good, { field: 'nope', value: 1 }]),
    400: () => server.record(device, 'no json'),
    401: () => server.record(device, good, { token: 'unknown' }),
    403: () => server.record(device, good, { token: createToken.secret }),
    404: () => server.record('nobody', good),
    409: () => server.record('one', good),
    413: () => server.record(device, 'x'.repeat(3_000)),
    429: async () => {
      await limit(0.001);
      await server.record(twin.deviceIds[0]!, good);
      return server.record(twin.deviceIds[0]!, { ...good, value: 2 });
    },
  };
  const { responses } = document.paths['/v1/devices/{device}/record/']!['post']!;
  for (const [status, ask] of Object.entries(asked)) {
    const answer = await ask();
    expect(answer.status).toBe(Number(status));
    const [[type, { schema }]] = Object.entries(responses[status]!.content!) as [
      [string, { schema: { $ref: string } }],
    ];
    expect(answer.headers.get('content-type')).toContain(type);
    const { required, properties } = document.components.schemas[schema.$ref.split('/').at(-1)!]!;
    expect(Object.keys(answer.body)).toEqual(expect.arrayContaining(required));
    if (type === 'application/json') expect(Object.keys(properties).sort()).toEqual(Object.keys(answer.body).sort());
  }
  for (const status of ['405', '408', '503']) expect(Object.keys(responses)).toContain(status);
});
