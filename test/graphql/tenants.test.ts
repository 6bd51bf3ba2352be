import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EITHER_DATABASE, type GqlAnswer, startServer, type TestServer } from '../support/server.ts';
import { firstPush } from '../support/subscribe.ts';
import { createTenant, createToken, type Tenant } from '../support/tenant.ts';
import { DESTRUCTIVE, OPENS, REACHES, type Reach } from './operations.ts';

const SCOPES = ['READ', 'RECORD', 'CONFIGURE', 'ADMIN'] as const;
const reaches = Object.entries(REACHES).flatMap(([name, list]) =>
  list.map((reach, index) => ({ title: list.length > 1 ? `${name} (${index + 1})` : name, reach })),
);

describe.each(EITHER_DATABASE)('tenants on %s', (database) => {
  let server: TestServer;
  let mine: Tenant;
  let theirs: Tenant;

  beforeAll(async () => {
    server = await startServer({ database });
    mine = await createTenant(server);
    theirs = await createTenant(server);
  });

  afterAll(async () => {
    await server?.stop();
  });

  function send(reach: Reach, target: Tenant, token: string): Promise<GqlAnswer | null> {
    const variables = reach.variables(target, mine);
    if (reach.query.startsWith('subscription')) return firstPush(server.url, token, reach.query, variables);
    return server.query(reach.query, variables, token);
  }

  function expectRefusal(answer: GqlAnswer | null, code: string): void {
    expect(answer?.errors?.map((error) => error.extensions.code)).toEqual([code]);
    // A nullable parent may be there, what was reached for must not.
    expect(JSON.stringify(answer?.data ?? null)).not.toMatch(/[0-9a-f]{8}-|marker-/);
  }

  test('the tables name every operation of the schema, and every field that takes an id', async () => {
    const { __schema } = await server.gql(
      '{ __schema { types { name kind fields { name args { type { name ofType { name ofType { ofType { name } } } } } } } } }',
    );
    const roots = ['Query', 'Mutation', 'Subscription'];
    const names: string[] = __schema.types
      .filter((type: { name: string; kind: string }) => type.kind === 'OBJECT' && !type.name.startsWith('__'))
      .flatMap((type: { name: string; fields: { name: string; args: unknown[] }[] }) =>
        type.fields
          .filter((field) => roots.includes(type.name) || JSON.stringify(field.args).includes('"ID"'))
          .map((field) => `${type.name}.${field.name}`),
      );
    expect(names.length).toBeGreaterThan(30);
    const known = new Set([...Object.keys(REACHES), ...Object.keys(OPENS)]);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
    expect([...known].filter((name) => !names.includes(name))).toEqual([]);
  });

  test('who owns it can do all of it: every refusal below has its counterpart', async () => {
    const owner = await createTenant(server);
    const gentle = Object.keys(REACHES).filter((name) => !DESTRUCTIVE.includes(name));
    for (const name of [...gentle, ...DESTRUCTIVE]) {
      // What was destroyed once cannot be destroyed in the second way.
      const list = DESTRUCTIVE.includes(name) ? REACHES[name]!.slice(0, 1) : REACHES[name]!;
      // The owner has left by then; who made the workspace is still there.
      const by = name === 'Mutation.deleteWorkspace' ? server.adminToken : owner.personal;
      for (const { query, variables } of list) {
        const answer = query.startsWith('subscription')
          ? await firstPush(server.url, owner.personal, query, variables(owner, owner), 200)
          : await server.query(query, variables(owner, owner), by);
        expect(answer?.errors, name).toBeUndefined();
      }
    }
  });

  describe.each(['personal', 'individual'] as const)('a %s token', (kind) => {
    test.each(reaches)("$title answers NOT_FOUND for another tenant's ids", async ({ reach }) => {
      expectRefusal(await send(reach, theirs, mine[kind]), 'NOT_FOUND');
    });

    test.each(Object.entries(OPENS))('%s shows nothing of another tenant', async (_name, open) => {
      const answer = await server.query(open.query, open.variables?.(mine), mine[kind]);
      if (open.refused || (open.person && kind === 'individual')) expectRefusal(answer, 'FORBIDDEN');
      else if (open.secret) expectRefusal(answer, 'NOT_FOUND');
      else expect(answer.errors).toBeUndefined();
      const text = JSON.stringify(answer);
      for (const [key, value] of Object.entries(theirs)) expect(text, key).not.toContain(`"${value}"`);
      expect(text).not.toContain(theirs.marker);
    });
  });

  describe.each(SCOPES)('a token with every scope but %s', (missing) => {
    let token: string;
    beforeAll(async () => {
      const scopes = SCOPES.filter((scope) => scope !== missing);
      token = (await createToken(server, mine.personal, mine.workspaceId, scopes)).secret;
    });

    test.each(reaches.filter(({ reach }) => reach.scope === missing))('$title answers FORBIDDEN', async ({ reach }) => {
      expectRefusal(await send(reach, mine, token), 'FORBIDDEN');
    });

    const lists = Object.entries(OPENS).filter(([, open]) => open.scope === missing);
    if (lists.length > 0)
      test.each(lists)('%s answers FORBIDDEN', async (_name, open) => {
        expectRefusal(await server.query(open.query, open.variables?.(mine), token), 'FORBIDDEN');
      });
  });

  describe.each(['productIds', 'deviceIds'] as const)('a token limited by %s', (limit) => {
    let token: string;
    beforeAll(async () => {
      const ids = [limit === 'productIds' ? mine.otherProductId : mine.otherDeviceId];
      token = (await createToken(server, mine.personal, mine.workspaceId, SCOPES, { [limit]: ids })).secret;
    });

    test.each(reaches.filter(({ reach }) => reach.level !== 'workspace'))(
      '$title answers NOT_FOUND for what it does not cover',
      async ({ reach }) => {
        expectRefusal(await send(reach, mine, token), 'NOT_FOUND');
      },
    );

    test.each(reaches.filter(({ reach }) => reach.level === 'workspace' && reach.scope !== 'READ'))(
      '$title answers FORBIDDEN, for it is about the whole workspace',
      async ({ reach }) => {
        expectRefusal(await send(reach, mine, token), 'FORBIDDEN');
      },
    );

    test('lists show only what it covers', async () => {
      const data = await server.gql(
        '{ products { edges { node { id } } } devices { edges { node { id } } } viewer { token { products { id } devices { id } } } }',
        {},
        token,
      );
      const products = limit === 'productIds' ? [{ node: { id: mine.otherProductId } }] : [];
      expect(data['products'].edges).toEqual(products);
      expect(data['devices'].edges).toEqual([{ node: { id: mine.otherDeviceId } }]);
      expect(data['viewer'].token).toEqual(
        limit === 'productIds'
          ? { products: [{ id: mine.otherProductId }], devices: null }
          : { products: null, devices: [{ id: mine.otherDeviceId }] },
      );
    });
  });

  test('of its product, a token limited to a device sees what the device needs and nothing more', async () => {
    const limit = { deviceIds: [mine.deviceId] };
    const { secret } = await createToken(server, mine.personal, mine.workspaceId, SCOPES, limit);
    const { __type } = await server.gql(
      '{ __type(name: "Product") { fields { name type { kind name ofType { kind name ofType { ofType { kind name } } } } } } }',
    );
    const open = [
      'id',
      'workspaceId',
      'name',
      'deviceType',
      'key',
      'offlineAfterSeconds',
      'ignoreZeroPlaces',
      'createdAt',
      'fields',
      'field',
      // What a public link to one device draws.
      'dashboard',
      'configurationFields',
    ];
    const inside: Record<string, string> = {
      field: '(identifier: "NOTE") { id }',
      call: `(id: "${mine.callId}") { body }`,
      decoder: '{ source }',
      decoderVersions: '{ source }',
      calls: '{ edges { node { body } } }',
      devices: '{ edges { node { name } } }',
    };
    for (const { name, type } of __type.fields) {
      const selection = inside[name] ?? (/OBJECT/.test(JSON.stringify(type)) ? '{ __typename }' : '');
      const query = `query ($id: ID!) { device(id: $id) { product { ${name}${selection} } } }`;
      const answer = await server.query(query, { id: mine.deviceId }, secret);
      const codes = answer.errors?.map((error) => error.extensions.code);
      expect(codes, name).toEqual(open.includes(name) ? undefined : ['NOT_FOUND']);
    }
  });

  test('a token without READ is not shown what it is limited to', async () => {
    const limit = { productIds: [mine.productId], deviceIds: [mine.deviceId] };
    const { secret } = await createToken(server, mine.personal, mine.workspaceId, ['RECORD'], limit);
    for (const query of ['{ viewer { token { products { name } } } }', '{ viewer { token { devices { name } } } }'])
      expectRefusal(await server.query(query, {}, secret), 'FORBIDDEN');
    const update = 'mutation ($id: ID!) { updateDevice(id: $id, input: {}) { latest { value } } }';
    const changer = await createToken(server, mine.personal, mine.workspaceId, ['CONFIGURE'], limit);
    expectRefusal(await server.query(update, { id: mine.deviceId }, changer.secret), 'FORBIDDEN');
  });

  test.each([
    '',
    'not-a-uuid',
    '\0',
    '00000000-0000-7000-8000-000000000000',
    '../x',
    '9'.repeat(300),
    '\ud800',
    "' or 1=1 --",
  ])('an id that nobody has (%j) answers NOT_FOUND everywhere', async (id) => {
    const nobody: Tenant = { ...theirs };
    for (const key of Object.keys(nobody) as (keyof Tenant)[]) if (key.endsWith('Id')) nobody[key] = id;
    for (const { title, reach } of reaches.filter(({ reach: { query } }) => !query.startsWith('subscription'))) {
      const answer = await send(reach, nobody, mine.personal);
      expect(
        answer?.errors?.map((error) => error.extensions.code),
        title,
      ).toEqual(['NOT_FOUND']);
    }
  });

  test("another tenant's ids in capitals are told of as those that nobody has", async () => {
    const capitals = (of: (id: string) => string): Tenant => {
      const tenant = { ...theirs };
      for (const key of Object.keys(tenant) as (keyof Tenant)[])
        if (/^[0-9a-f]{8}-/.test(tenant[key])) tenant[key] = of(tenant[key]).toUpperCase();
      return tenant;
    };
    const told = async (reach: Reach, target: Tenant): Promise<string> => {
      let text = JSON.stringify(await send(reach, target, mine.personal));
      for (const id of Object.values(target))
        if (/^[0-9A-F]{8}-/.test(id)) text = text.replaceAll(id.toLowerCase(), 'ID').replaceAll(id, 'Id');
      return text;
    };
    for (const { title, reach } of reaches.filter(({ reach: { query } }) => !query.startsWith('subscription')))
      expect(
        await told(
          reach,
          capitals((id) => id),
        ),
        title,
      ).toBe(
        await told(
          reach,
          capitals(() => crypto.randomUUID()),
        ),
      );
  });

  test('nothing was changed by all that', async () => {
    for (const tenant of [mine, theirs]) {
      const data = await server.gql(
        `query ($product: ID!, $device: ID!, $workspace: ID!) {
           product(id: $product) { name webhookId fields { id unit } devices { edges { node { id name } } } decoderVersions { version } }
           device(id: $device) { latest { value } }
           workspace(id: $workspace) { members { user { id } } tokens { id } }
         }`,
        { product: tenant.productId, device: tenant.deviceId, workspace: tenant.workspaceId },
        tenant.personal,
      );
      expect(data['product']).toEqual({
        name: tenant.marker,
        webhookId: tenant.webhookId,
        // The second one is that of the alert.
        fields: [
          { id: tenant.fieldId, unit: null },
          { id: expect.any(String), unit: null },
        ],
        devices: { edges: [{ node: { id: tenant.deviceId, name: tenant.marker } }] },
        decoderVersions: [{ version: 1 }],
      });
      expect(data['device'].latest).toEqual([{ value: tenant.marker }, { value: 1 }]);
      expect(data['workspace'].members).toHaveLength(2);
      expect(data['workspace'].tokens.map((token: { id: string }) => token.id)).toContain(tenant.individualId);
    }
  });

  test('without a token every operation but signIn, and those for who has a link, answers UNAUTHENTICATED', async () => {
    for (const { title, reach } of reaches.filter(({ reach: { query } }) => !query.startsWith('subscription'))) {
      const answer = await server.query(reach.query, reach.variables(theirs, mine), null);
      expect(answer.errors?.[0]?.extensions.code, title).toBe('UNAUTHENTICATED');
    }
    for (const [name, open] of Object.entries(OPENS)) {
      if (name === 'Mutation.signIn' || open.secret) continue;
      const answer = await server.query(open.query, open.variables?.(mine), null);
      expect(answer.errors?.[0]?.extensions.code, name).toBe('UNAUTHENTICATED');
    }
  });
});
