import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Receiver } from '../support/receiver.ts';
import { createProduct, EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';
import { firstPush } from '../support/subscribe.ts';
import { createMember, createTenant, createToken, createWorkspace, type Tenant } from '../support/tenant.ts';

const CREATE = `mutation ($w: ID, $input: EndpointInput!) {
  createEndpoint(workspaceId: $w, input: $input) {
    secret endpoint { id key name kind url addresses events products { name } tags enabled disabledReason }
  }
}`;
const TEST =
  'mutation ($id: ID!) { testEndpoint(id: $id) { id type status body attempts { httpStatus error answer durationMs } } }';

describe.each(EITHER_DATABASE)('endpoints on %s', (database) => {
  let server: TestServer;
  let receiver: Receiver;
  let workspaceId: string;

  beforeAll(async () => {
    server = await startServer({ database, env: { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' } });
    receiver = await Receiver.start();
    workspaceId = await createWorkspace(server, 'endpoints');
  });
  afterAll(async () => {
    receiver?.stop();
    await server?.stop();
  });

  const create = async (input: Record<string, unknown>, token = server.adminToken) =>
    (
      await server.gql(
        CREATE,
        { w: workspaceId, input: { name: 'hook', kind: 'WEBHOOK', url: receiver.url, events: [], ...input } },
        token,
      )
    )['createEndpoint'];

  test('are made, changed, listed and deleted', async () => {
    const { id: productId } = await createProduct(server, { workspaceId, input: { name: 'product' } });
    const { endpoint, secret } = await create({
      events: ['device.offline', 'alert.fired', 'device.offline'],
      productIds: [productId],
      tags: ['cold'],
    });
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
    expect(endpoint).toMatchObject({
      key: null,
      events: ['alert.fired', 'device.offline'],
      products: [{ name: 'product' }],
      tags: ['cold'],
      enabled: true,
      disabledReason: null,
    });
    const { updateEndpoint } = await server.gql(
      `mutation ($id: ID!) {
         updateEndpoint(id: $id, input: { name: "other", kind: WEBHOOK, events: [], productIds: null, enabled: false }) {
           name url events products { id } tags enabled
         }
       }`,
      { id: endpoint.id },
    );
    expect(updateEndpoint).toEqual({
      name: 'other',
      url: receiver.url,
      events: [],
      products: null,
      tags: ['cold'],
      enabled: false,
    });
    const list = 'query ($w: ID!) { workspace(id: $w) { endpoints { id } } }';
    expect((await server.gql(list, { w: workspaceId }))['workspace'].endpoints).toContainEqual({ id: endpoint.id });
    await server.gql('mutation ($id: ID!) { deleteEndpoint(id: $id) }', { id: endpoint.id });
    expect((await server.gql(list, { w: workspaceId }))['workspace'].endpoints).not.toContainEqual({ id: endpoint.id });
  });

  test('with a key are safe to make again; the secret is shown once', async () => {
    const first = await create({ key: 'ops', events: ['alert.fired'] });
    const again = await create({ key: 'ops', events: ['alert.fired'] });
    expect(again).toEqual({ endpoint: first.endpoint, secret: null });
    const input = { name: 'hook', kind: 'WEBHOOK', url: receiver.url, events: ['alert.resolved'], key: 'ops' };
    const { errors } = await server.query(CREATE, { w: workspaceId, input });
    expect(errors![0]!.extensions).toMatchObject({ code: 'CONFLICT', differences: ['input.events'] });
  });

  test('are tried with a signed sample, and the answer is kept', async () => {
    const { endpoint, secret } = await create({ events: ['device.offline'] });
    receiver.answer = (response) => response.writeHead(200).end(`thanks\0${'x'.repeat(10_000)}`);
    const before = receiver.received.length;
    const { testEndpoint: delivery } = await server.gql(TEST, { id: endpoint.id });
    expect(delivery).toMatchObject({ type: 'device.offline', status: 'DELIVERED' });
    expect(delivery.attempts).toEqual([
      {
        httpStatus: 200,
        error: null,
        answer: expect.stringMatching(/^thanks\uFFFDx+$/),
        durationMs: expect.any(Number),
      },
    ]);
    expect(delivery.attempts[0].answer).toHaveLength(4_096);
    const [{ headers, body }] = receiver.received.slice(before) as [Receiver['received'][number]];
    expect(body).toBe(delivery.body);
    expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: 'device.offline', data: { test: true } });

    receiver.answer = (response) => response.writeHead(302, { location: 'http://127.0.0.1/' }).end();
    const { testEndpoint: moved } = await server.gql(TEST, { id: endpoint.id });
    expect(moved).toMatchObject({
      status: 'DEAD',
      attempts: [{ httpStatus: 302, error: expect.stringContaining('Redirects') }],
    });
    expect(receiver.received.length).toBe(before + 2);
    const { workspace } = await server.gql(
      `query ($w: ID!) {
         workspace(id: $w) { endpoints { id deliveries(first: 1) { totalCount pageInfo { hasNextPage endCursor } edges { node { id endpoint { id } } } } } }
       }`,
      { w: workspaceId },
    );
    const { deliveries } = workspace.endpoints.find(({ id }: { id: string }) => id === endpoint.id);
    expect(deliveries).toMatchObject({
      totalCount: 2,
      pageInfo: { hasNextPage: true },
      edges: [{ node: { id: moved.id, endpoint: { id: endpoint.id } } }],
    });
    receiver.answer = (response) => response.writeHead(204).end();
  });

  test('sign with two secrets while one takes over', async () => {
    const { endpoint, secret } = await create({});
    const { rotateEndpointSecret } = await server.gql(
      'mutation ($id: ID!) { rotateEndpointSecret(id: $id) { secret } }',
      { id: endpoint.id },
    );
    expect(rotateEndpointSecret.secret).not.toBe(secret);
    await server.gql(TEST, { id: endpoint.id });
    const { headers, body } = receiver.received.at(-1)!;
    for (const each of [secret, rotateEndpointSecret.secret]) new Webhook(each).verify(body, headers);
    expect(() => new Webhook('whsec_AAAA').verify(body, headers)).toThrow('No matching signature');
    const { auditLog } = await server.gql(
      'query ($w: ID) { auditLog(workspaceId: $w) { edges { node { operation arguments } } } }',
      {
        w: workspaceId,
      },
    );
    const told = JSON.stringify(auditLog);
    expect(told).toContain('rotateEndpointSecret');
    for (const hidden of [secret, rotateEndpointSecret.secret, receiver.url, endpoint.url])
      expect(told).not.toContain(hidden);
    expect(JSON.stringify(server.process.lines)).not.toContain(secret);
  });

  test('tell subscribers of each try', async () => {
    const { endpoint } = await create({});
    const query =
      'subscription ($id: ID!) { deliveryChanged(endpointId: $id) { status endpoint { enabled } attempts { httpStatus } } }';
    const heard = { push: null as unknown };
    const listening = firstPush(server.url, server.adminToken, query, { id: endpoint.id }).then(
      (push) => (heard.push = push),
    );
    // Before it listens, tries are told to nobody.
    while (heard.push === null) await server.gql(TEST, { id: endpoint.id });
    const push = await listening;
    expect(push).toMatchObject({
      data: { deliveryChanged: { status: 'DELIVERED', endpoint: { enabled: true }, attempts: [{ httpStatus: 204 }] } },
    });
  });

  test.each([
    [{ events: ['alert.fire'] }, 'input.events[0]: "alert.fire" is no event; there are alert.fired,'],
    [{ url: 'ftp://example.org' }, 'input.url: expected a URL such as'],
    [{ url: 'https://user:secret@example.org' }, 'input.url: no user and password in it'],
    [{ url: null }, 'input.url: this kind of endpoint needs a URL.'],
    [{ addresses: ['ada@example.org'] }, 'input.addresses: only EMAIL has them'],
    [{ kind: 'EMAIL', url: null, addresses: ['ada@example.org'] }, 'input.kind: EMAIL needs the setting SMTP_URL'],
    [{ kind: 'ALERTMANAGER', events: ['device.offline'] }, 'input.events[0]: ALERTMANAGER takes alerts alone'],
    [{ productIds: [] }, 'input.productIds: leave it out for all products'],
    [{ key: 'Not a key' }, 'input.key: "Not a key" is no key'],
  ])('with mistakes are refused: %j', async (input, message) => {
    const given = { name: 'hook', kind: 'WEBHOOK', url: receiver.url, events: [], ...input };
    const { errors } = await server.query(CREATE, { w: workspaceId, input: given });
    expect(errors).toMatchObject([
      { message: expect.stringContaining(message), extensions: { code: 'BAD_USER_INPUT' } },
    ]);
  });
});

describe('endpoints and those who may not see them', () => {
  let server: TestServer;
  let tenant: Tenant;

  beforeAll(async () => {
    server = await startServer({ database: 'sqlite' });
    tenant = await createTenant(server);
  });
  afterAll(() => server?.stop());

  test('show their URL only to those who may configure the workspace, wherever else they may', async () => {
    const viewer = await createMember(server, tenant.workspaceId, 'VIEWER');
    const own = await createTenant(server, { userId: viewer.userId, email: viewer.email, token: viewer.token });
    const query = 'query ($w: ID!) { workspace(id: $w) { endpoints { id name events url } } }';
    const seen = await server.query(query, { w: tenant.workspaceId }, viewer.token);
    expect(seen.data!['workspace'].endpoints).toMatchObject([{ name: tenant.marker, url: null }]);
    expect(seen.errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    expect((await server.gql(query, { w: own.workspaceId }, viewer.token))['workspace'].endpoints).toMatchObject([
      { url: expect.stringContaining(own.marker) },
    ]);
  });

  test('are not there for tokens limited to products, devices or fields', async () => {
    const query = 'query ($w: ID!) { workspace(id: $w) { endpoints { id } } }';
    for (const limit of [{ productIds: [tenant.productId] }, { deviceIds: [tenant.deviceId] }, { fields: ['NOTE'] }]) {
      const { secret } = await createToken(server, tenant.personal, tenant.workspaceId, ['READ'], limit);
      const { data, errors } = await server.query(query, { w: tenant.workspaceId }, secret);
      expect(data).toBeNull();
      expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    }
  });

  test('are refused to one who may configure and not read: they would tell what was measured', async () => {
    const { secret } = await createToken(server, tenant.personal, tenant.workspaceId, ['CONFIGURE']);
    const input = { name: 'x', kind: 'WEBHOOK', url: 'http://example.org/', events: ['measurements.recorded'] };
    const { errors } = await server.query(CREATE, { w: tenant.workspaceId, input }, secret);
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN', scope: 'READ' } }]);
  });

  test('on this machine are refused, and the refusal names the setting', async () => {
    const { testEndpoint } = await server.gql(TEST, { id: tenant.endpointId }, tenant.personal);
    expect(testEndpoint).toMatchObject({
      status: 'DEAD',
      attempts: [{ httpStatus: null, error: expect.stringContaining('WEBHOOK_ALLOWED_HOSTS') }],
    });
  });
});
