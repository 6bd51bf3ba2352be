import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  buildSchema,
  getIntrospectionQuery,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  graphqlSync,
} from 'graphql';
import { parseSync } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Access, scopesOfRole } from '../../src/domain/access/access.ts';
import { OPEN_TO_FIELD_LIMITS } from '../../src/domain/access/field-limits.ts';
import { PATHS, type PathRight } from '../../src/domain/access/path-rights.ts';
import { FIELDS, OPERATIONS, type OperationRight, rightOfField } from '../../src/domain/access/rights.ts';
import type { TokenScope } from '../../src/domain/entities/token.ts';
import { AppError } from '../../src/errors.ts';
import type { GraphqlContext } from '../../src/graphql/context/graphql-context.ts';
import { guardSchema } from '../../src/graphql/guard-schema.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { createRouter, type Handlers, type PathDoorkeepers } from '../../src/http/routes.ts';
import { createProduct, type GqlAnswer, startServer, type TestServer } from '../support/server.ts';
import { firstPush } from '../support/subscribe.ts';
import { createMember, createTenant, createToken, type Tenant } from '../support/tenant.ts';
import { REACHES } from './operations.ts';

const SCOPES = ['READ', 'RECORD', 'CONFIGURE', 'ADMIN'] as const;
const LIMITS = ['none', 'productIds', 'deviceIds'] as const;
const NOBODY = '00000000-0000-7000-8000-000000000000';
const HTTP = fileURLToPath(new URL('../../src/http', import.meta.url));

interface Holder {
  title: string;
  token: string;
  scopes: readonly string[];
  limit: (typeof LIMITS)[number];
}

let server: TestServer;
let tenant: Tenant;
const holders: Holder[] = [];
const people: Holder[] = [];

beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  tenant = await createTenant(server);
  for (const limit of LIMITS)
    for (const scope of SCOPES) {
      const ids = limit === 'productIds' ? [tenant.productId] : [tenant.deviceId];
      const more = limit === 'none' ? {} : { [limit]: ids };
      const { secret } = await createToken(server, tenant.personal, tenant.workspaceId, [scope], more);
      holders.push({ title: `${scope}, limit ${limit}`, token: secret, scopes: [scope], limit });
    }
  for (const role of ['VIEWER', 'EDITOR', 'ADMIN'] as const) {
    const token = role === 'ADMIN' ? tenant.personal : (await createMember(server, tenant.workspaceId, role)).token;
    people.push({ title: role, token, scopes: [...scopesOfRole(role)], limit: 'none' });
  }
});
afterAll(() => server?.stop());

const schema = createSchema(null);
const { __schema } = graphqlSync({ schema, source: getIntrospectionQuery() }).data as Record<string, any>;
const ROOTS = ['Query', 'Mutation', 'Subscription'];
const objects: { name: string; fields: { name: string; args: any[]; type: any }[] }[] = __schema.types.filter(
  (type: { name: string; kind: string }) => type.kind === 'OBJECT' && !type.name.startsWith('__'),
);

const paths = Object.entries<PathRight>(PATHS);

/** What stands for what a path names is nobody's. */
function urlOf(path: string): string {
  return server.url + path.replace(':device', NOBODY).replace(':webhook', 'x'.repeat(22)).replace(':network', 'tti');
}

/** The texts and patterns of a source file that begin as a path does, without what follows a name. */
function namedPaths(file: string): string[] {
  const found: string[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, value, regex } = node as { type?: string; value?: unknown; regex?: { pattern: string } };
    if (type?.startsWith('Import')) return;
    const text =
      regex?.pattern.replace(/^\^/, '').replaceAll('\\/', '/') ?? (value as { cooked?: string })?.cooked ?? value;
    if (typeof text === 'string') found.push(...(/^\/[a-z]\w*(?:\/\w+)*/.exec(text) ?? []));
    for (const child of Object.values(node)) walk(child);
  };
  walk(parseSync(file, readFileSync(join(HTTP, file), 'utf8')).program);
  return found;
}

/** A row, what one begins with, or with something in the place of its parameters. */
function isPartOf(path: string, row: string): boolean {
  const [given, wanted] = [path.split('/'), row.split('/')];
  const filled = (at: number): boolean => given.length === wanted.length && wanted[at]!.startsWith(':');
  return given.every((part, at) => wanted[at] === part || filled(at)) || row.startsWith(`${path}.`);
}

describe('the table', () => {
  /** `Type.field` of the schema, of the roots or of all other types. */
  const inSchema = (ofRoots: boolean): string[] =>
    objects
      .filter(({ name }) => ROOTS.includes(name) === ofRoots)
      .flatMap((type) => type.fields.map((field) => `${type.name}.${field.name}`))
      .toSorted();

  test('has one row for every operation of the schema, and no other', () => {
    expect(inSchema(true).length).toBeGreaterThan(30);
    expect(Object.keys(OPERATIONS).toSorted()).toEqual(inSchema(true));
  });

  test('names every field of every type of the schema once, and no other', () => {
    const named = Object.entries(FIELDS).flatMap(([type, rows]) =>
      Object.keys(rows).flatMap((fields) => fields.split(' ').map((field) => `${type}.${field}`)),
    );
    expect(inSchema(false).length).toBeGreaterThan(200);
    expect(named.toSorted()).toEqual(inSchema(false));
  });

  test('of field limits names what the schema has alone', () => {
    const known = new Set([...inSchema(true), ...inSchema(false)]);
    expect(OPEN_TO_FIELD_LIMITS.size).toBeGreaterThan(100);
    expect([...OPEN_TO_FIELD_LIMITS].filter((name) => !known.has(name))).toEqual([]);
  });

  test('a schema with a field or an operation that has no row is refused', () => {
    const guarded = (text: string) => () => guardSchema(buildSchema(text));
    expect(guarded('type Query { viewer: User } type User { id: ID email: String }')).not.toThrow();
    expect(guarded('type Query { viewer: User } type User { id: ID password: String }')).toThrow(
      /User\.password has no row/,
    );
    expect(guarded('type Query { viewer: Person } type Person { id: ID }')).toThrow(/Person\.id has no row/);
    expect(guarded('type Query { secrets: ID }')).toThrow(/Query\.secrets has no row/);
  });

  test('the server answers the REST paths of the table with their methods, and its router has no others', async () => {
    const router = createRouter({} as Handlers, {} as PathDoorkeepers);
    const routed = router.stack.map(({ path }) => String(path).replace('{/*rest}', ''));
    const bare = paths.filter(([, row]) => row.bare).map(([path]) => path);
    expect([...routed, ...bare].toSorted()).toEqual(Object.keys(PATHS).toSorted());
    for (const [path, { methods }] of paths) {
      const answer = await fetch(urlOf(path), { method: 'PATCH' });
      expect(answer.status, path).toBe(405);
      expect(answer.headers.get('allow'), path).toBe(methods.join(', '));
    }
  });

  test('no file of src/http names a path that has no row, past the router', () => {
    const named = readdirSync(HTTP)
      .filter((file) => !file.endsWith('.test.ts'))
      .flatMap((file) => namedPaths(file).map((path) => ({ file, path })));
    expect(named.length).toBeGreaterThan(10);
    const strange = named.filter(({ path }) => !Object.keys(PATHS).some((row) => isPartOf(path, row)));
    expect(strange).toEqual([]);
  });
});

/** Whether the token may begin it at all; then what nobody has is NOT_FOUND, and lists show what there is. */
function allowed(right: OperationRight, holder: Holder): boolean {
  if (right.needs === 'everybody' || right.needs === 'token') return true;
  if (right.needs === 'operator' || right.needs === 'person') return false;
  if (right.whole && holder.limit !== 'none') return false;
  return right.needs.every((scope) => holder.scopes.includes(scope));
}

/** Those whose arguments decide more than the table says: they have tests of their own. */
const ARGUMENTS_DECIDE = [
  'Mutation.createToken',
  'Mutation.updateToken',
  'Mutation.revokeToken',
  'Mutation.setWriteRate',
];

describe('every operation for every token, about what nobody has', () => {
  const nobody = { ...({} as Tenant) };

  beforeAll(() => {
    Object.assign(nobody, tenant);
    for (const key of Object.keys(nobody) as (keyof Tenant)[]) if (key.endsWith('Id')) nobody[key] = NOBODY;
  });

  const cases = Object.entries(REACHES).filter(([name]) => name in OPERATIONS && !ARGUMENTS_DECIDE.includes(name));

  test.each(cases)('%s', async (name, reaches) => {
    for (const { query, variables } of reaches)
      for (const holder of holders) {
        const given = variables(nobody, nobody);
        const answer: GqlAnswer | null = query.startsWith('subscription')
          ? await firstPush(server.url, holder.token, query, given)
          : await server.query(query, given, holder.token);
        const code = answer?.errors?.[0]?.extensions.code;
        const expected = allowed(OPERATIONS[name]!, holder) ? 'NOT_FOUND' : 'FORBIDDEN';
        expect(code, `${holder.title}: ${query}`).toBe(expected);
      }
  });
});

describe('every field of every type', () => {
  const [workspaceId, id] = ['workspace', 'id'];
  const product = { id, workspace: { id: workspaceId } };

  /** Whether the field's guard lets a token with that scope alone pass; what its resolver does then is not asked. */
  async function passes(type: string, field: string, scope: TokenScope): Promise<boolean> {
    const scopes = new Map([[workspaceId, new Set([scope])]]);
    const more = { productIds: null, deviceIds: null, fields: null, expiresAt: null, signedIn: false };
    const access = new Access({ tokenId: id, kind: 'INDIVIDUAL', userId: null, operator: false, scopes, ...more });
    const { resolve } = (schema.getType(type) as GraphQLObjectType).getFields()[field]!;
    const parent = type === 'Product' ? product : { ...product, product };
    try {
      await resolve?.(parent, {}, { access } as GraphqlContext, {} as GraphQLResolveInfo);
    } catch (error) {
      return !(error instanceof AppError && error.code === 'FORBIDDEN');
    }
    return true;
  }

  const rows = Object.entries(FIELDS).flatMap(([type, ofType]) =>
    Object.entries(ofType).map(([fields, right]) => ({ row: `${type} { ${fields} }`, type, fields, right })),
  );

  test.each(rows)('$row is for the scopes of its row', async ({ type, fields, right: { anyOf } }) => {
    for (const field of fields.split(' '))
      for (const scope of SCOPES)
        expect([field, scope, await passes(type, field, scope)]).toEqual([
          field,
          scope,
          anyOf === 'any' || anyOf.includes(scope),
        ]);
  });
});

describe('every field of what a token came to another way', () => {
  /** A selection for a field: its leaf, or the id or first leaf of what it leads to. */
  function selection(field: { name: string; args: any[]; type: any }): string {
    const needed = field.args.filter(({ type, defaultValue }) => type.kind === 'NON_NULL' && defaultValue === null);
    const values: Record<string, string> = {
      identifier: '"NOTE"',
      field: '"NOTE"',
      id: `"${tenant.callId}"`,
      from: '"2020-01-01T00:00:00Z"',
      to: '"2100-01-01T00:00:00Z"',
    };
    const args = needed.length === 0 ? '' : `(${needed.map(({ name }) => `${name}: ${values[name]}`).join(', ')})`;
    let type = field.type;
    while (type.ofType) type = type.ofType;
    return `${field.name}${args}${type.kind === 'OBJECT' ? ' { __typename }' : ''}`;
  }

  const ways: Record<string, { scope: string; query: (fields: string) => string; variables: () => object }[]> = {
    Device: [
      {
        scope: 'RECORD',
        query: (fields) =>
          `mutation ($id: ID!) { recordMeasurements(deviceId: $id, entries: [{ field: "no", value: 1 }]) { rejected { matchedDevice { ${fields} } } } }`,
        variables: () => ({ id: tenant.deviceId }),
      },
      {
        scope: 'CONFIGURE',
        query: (fields) => `mutation ($id: ID!) { updateDevice(id: $id, input: {}) { ${fields} } }`,
        variables: () => ({ id: tenant.deviceId }),
      },
      {
        scope: 'READ',
        query: (fields) => `query ($id: ID!) { device(id: $id) { ${fields} } }`,
        variables: () => ({ id: tenant.deviceId }),
      },
    ],
    Product: [
      {
        scope: 'RECORD',
        query: (fields) =>
          `mutation ($id: ID!) { recordMeasurements(deviceId: $id, entries: [{ field: "no", value: 1 }]) { rejected { matchedDevice { product { ${fields} } } } } }`,
        variables: () => ({ id: tenant.deviceId }),
      },
      {
        scope: 'CONFIGURE',
        query: (fields) => `mutation ($id: ID!) { updateDevice(id: $id, input: {}) { product { ${fields} } } }`,
        variables: () => ({ id: tenant.deviceId }),
      },
      {
        scope: 'READ',
        query: (fields) => `query ($id: ID!) { device(id: $id) { product { ${fields} } } }`,
        variables: () => ({ id: tenant.deviceId }),
      },
    ],
    Field: [
      {
        scope: 'RECORD',
        query: (fields) =>
          `mutation ($id: ID!) { recordMeasurements(deviceId: $id, entries: [{ field: "NOTE", value: {} }]) { rejected { matchedField { ${fields} } } } }`.replace(
            'value: {}',
            'value: 1, timestamp: "2200-01-01T00:00:00Z"',
          ),
        variables: () => ({ id: tenant.deviceId }),
      },
      {
        scope: 'CONFIGURE',
        query: (fields) => `mutation ($id: ID!) { updateField(id: $id, input: {}) { ${fields} } }`,
        variables: () => ({ id: tenant.fieldId }),
      },
    ],
    WebhookCall: [
      {
        scope: 'CONFIGURE',
        query: (fields) =>
          `mutation ($id: ID!, $calls: [ID!]) { replayCalls(productId: $id, callIds: $calls) { results { call { ${fields} } } } }`,
        variables: () => ({ id: tenant.productId, calls: [tenant.callId] }),
      },
    ],
    DecoderVersion: [
      {
        scope: 'CONFIGURE',
        query: (fields) => `mutation ($id: ID!) { activateDecoder(productId: $id, version: 1) { ${fields} } }`,
        variables: () => ({ id: tenant.productId }),
      },
    ],
    Token: SCOPES.map((scope) => ({
      scope,
      query: (fields: string) => `{ viewer { token { ${fields} } } }`,
      variables: () => ({}),
    })),
    Workspace: SCOPES.map((scope) => ({
      scope,
      query: (fields: string) => `{ viewer { workspaces { ${fields} } } }`,
      variables: () => ({}),
    })),
  };

  const cases = Object.entries(ways).flatMap(([type, list]) => list.map((way) => ({ type, ...way })));

  test.each(cases)('$type, with $scope', async ({ type, scope, query, variables }) => {
    const { fields } = objects.find(({ name }) => name === type)!;
    const asked = [...holders, ...people];
    for (const holder of asked.filter(({ scopes, limit }) => scopes.includes(scope) && limit !== 'productIds')) {
      // A token of one device reaches only devices.
      if (holder.limit === 'deviceIds' && ['WebhookCall', 'DecoderVersion'].includes(type)) continue;
      if (holder.limit === 'deviceIds' && type === 'Field' && scope === 'CONFIGURE') continue;
      const shown: string[] = [];
      for (const field of fields) {
        const { anyOf, on } = rightOfField(type, field.name)!;
        const scoped = anyOf === 'any' || anyOf.some((one) => holder.scopes.includes(one));
        const covered = type !== 'Product' || on !== 'product' || holder.limit === 'none';
        // The whole workspace is for no token with limits.
        const whole = type !== 'Workspace' || holder.limit === 'none' || anyOf === 'any';
        if (covered && scoped && whole) {
          shown.push(selection(field));
          continue;
        }
        // Asked alone, as one refusal may hide others.
        const answer = await server.query(query(selection(field)), variables(), holder.token);
        const title = `${holder.title}: ${type}.${field.name}`;
        expect(answer.errors?.[0]?.extensions.code, title).toBe(covered ? 'FORBIDDEN' : 'NOT_FOUND');
      }
      if (shown.length === 0) continue;
      const { errors } = await server.query(query(shown.join(' ')), variables(), holder.token);
      const refused = (errors ?? []).map(({ message, path }) => [path?.at(-1), message]);
      expect(refused, `${holder.title}: ${type}`).toEqual([]);
    }
  });
});

describe('what must not be told in passing', () => {
  test('a token without READ sees neither what a decoder prints nor how an example fails', async () => {
    const { id } = await createProduct(server, {
      token: tenant.personal,
      workspaceId: tenant.workspaceId,
      fields: { secret: 'STRING' },
      serialNumbers: ['spy'],
    });
    const { token } = holders.find(({ title }) => title === 'CONFIGURE, limit none')!;
    await server.gql(
      'mutation ($id: ID!) { addDecoderExample(productId: $id, name: "x", request: {}, expected: []) { id } }',
      { id },
      token,
    );
    const answer = await server.query(
      'mutation ($id: ID!, $s: String!) { saveDecoder(productId: $id, source: $s) { version } }',
      { id, s: 'function Decoder() { throw new Error("told: " + deviceSerialToId.spy) }' },
      token,
    );
    expect(answer.errors?.[0]?.extensions.code).toBe('INVALID_DECODER');
    expect(answer.errors?.[0]?.message).not.toContain('told');
    const reader = await server.query(
      'mutation ($id: ID!, $s: String!) { saveDecoder(productId: $id, source: $s) { version } }',
      { id, s: 'function Decoder() { throw new Error("told: " + deviceSerialToId.spy) }' },
      tenant.personal,
    );
    expect(reader.errors?.[0]?.message).toContain('told');
  });

  test('the webhook id is masked wherever a sender, a proxy or the decoder repeats it', async () => {
    const product = await createProduct(server, {
      token: tenant.personal,
      workspaceId: tenant.workspaceId,
      input: {
        decoder: 'function Decoder(r) { console.log(r.path); return [{ device: r.path, field: "x", value: 1 }] }',
      },
    });
    const path = `/integrations/api/${product.webhookId}/sub`;
    await fetch(`${server.url}${path}?from=${product.webhookId}`, {
      method: 'POST',
      headers: { 'X-Forwarded-Uri': path, Referer: `http://x${path}`, 'X-Original-Url': path },
      body: `see ${path}`,
    });
    const viewer = await createMember(server, tenant.workspaceId, 'VIEWER');
    const query =
      'query ($id: ID!) { product(id: $id) { calls { edges { node { path query headers body run { output console entries { device value message } } } } } } }';
    const shown = JSON.stringify(await server.gql(query, { id: product.id }, viewer.token));
    expect(shown).toContain('/integrations/api/***/sub');
    expect(shown).not.toContain(product.webhookId);
    const configurer = JSON.stringify(await server.gql(query, { id: product.id }, tenant.personal));
    expect(configurer.split(product.webhookId).length).toBeGreaterThan(6);
  });

  test('a limited token learns of a full plan, not of how many devices there are', async () => {
    const own = await createTenant(server);
    await server.gql(
      'mutation ($id: ID!) { createDevices(productId: $id, devices: [{ name: "a" }, { name: "b" }, { name: "c" }], plan: "standard") { id } }',
      { id: own.productId },
      own.personal,
    );
    const limit = { productIds: [own.productId] };
    const { secret } = await createToken(server, own.personal, own.workspaceId, ['CONFIGURE'], limit);
    const query = 'mutation ($id: ID!) { createDevices(productId: $id, devices: [{ name: "c" }]) { id } }';
    const limited = await server.query(query, { id: own.productId }, secret);
    const whole = await server.query(query, { id: own.productId }, own.personal);
    expect(limited.errors?.[0]?.extensions).toEqual({ code: 'PLAN_LIMIT', plan: 'free', deviceAllowance: 2 });
    expect(limited.errors?.[0]?.message).not.toMatch(/\b3\b/);
    expect(whole.errors?.[0]?.extensions).toMatchObject({ code: 'PLAN_LIMIT', wanted: 3, choose: 'standard' });
  });
});
