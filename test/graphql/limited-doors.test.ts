import { readFileSync } from 'node:fs';
import { buildSchema, getNamedType, type GraphQLObjectType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPEN_TO_FIELD_LIMITS } from '../../src/domain/access/field-limits.ts';
import { PATHS, type PathRight } from '../../src/domain/access/path-rights.ts';
import { createLimitedTenant, HIDDEN, type LimitedTenant } from '../support/field-limits.ts';
import { EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';
import { firstPush } from '../support/subscribe.ts';
import { createToken } from '../support/tenant.ts';
import { CALLS, REST_CALLS } from './rights-calls.ts';

const FAR = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };
const LIMITS = ['workspace', 'product', 'device'] as const;

describe.each(EITHER_DATABASE)('every door, for a token limited to fields, on %s', (database) => {
  let server: TestServer;
  let tenant: LimitedTenant;

  beforeAll(async () => {
    server = await startServer({ database });
    tenant = await createLimitedTenant(server);
  });
  afterAll(() => server?.stop());

  const OPERATIONS = [...CALLS].filter(([row]) => !row.startsWith('Subscription.'));

  test.each(OPERATIONS)(
    '%s shows nothing hidden, and is FORBIDDEN where nothing says what it shows',
    async (row, calls) => {
      const operation = row.replace(/\(.*/, '');
      for (const { query, variables } of calls)
        for (const limit of LIMITS) {
          const answer = await server.query(query, variables(tenant), tenant.tokens[limit].secret);
          const { data } = answer;
          expect(JSON.stringify(answer)).not.toMatch(HIDDEN);
          if (!OPEN_TO_FIELD_LIMITS.has(operation)) {
            expect(Object.values(data ?? {}).filter((value) => value !== null)).toEqual([]);
            expect(answer.errors![0]!.extensions.code).toBe('FORBIDDEN');
          }
        }
    },
  );

  test('webhookCalled is FORBIDDEN: calls hold raw payloads', async () => {
    const query = 'subscription ($id: ID!) { webhookCalled(productId: $id, last: 10) { body } }';
    // Before any call is pushed: the other product has none.
    for (const id of [tenant.productId, tenant.otherProductId]) {
      const answer = await firstPush(server.url, tenant.tokens.workspace.secret, query, { id });
      expect(answer?.errors?.[0]?.extensions.code).toBe('FORBIDDEN');
    }
  });

  const GUARDED = Object.entries<PathRight>(PATHS).filter(([, { needs }]) => needs !== 'everybody');

  test.each(GUARDED)('%s shows nothing hidden', async (path, { methods }) => {
    const narrows = /record|export|history|write|query|tiles/.test(path);
    const { headers = {}, body, place, query } = REST_CALLS[path as keyof typeof PATHS];
    const url = path.replace(/:\w+/, place?.(tenant) ?? '') + (narrows ? (query?.(tenant) ?? '') : '');
    for (const { secret: token } of Object.values(tenant.tokens)) {
      const init = { method: methods[0]!, headers: { ...headers, Authorization: `Token ${token}` } };
      const about = { token, serialNumber: tenant.serialNumber };
      const response = await fetch(`${server.url}${url}`, body === undefined ? init : { ...init, body: body(about) });
      const text = await response.text();
      expect(text).not.toMatch(HIDDEN);
      expect(response.status, text).toBe(!narrows ? 403 : path.endsWith('write') ? 204 : 200);
    }
  });

  const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));
  const ARGUMENTS: Record<string, string[]> = {
    'Product.field': ['(identifier: "hidden_one")', '(identifier: "shown")'],
    'Product.call': ['(id: "CALL")'],
    'Device.history': [`(from: "${FAR.from}", to: "${FAR.to}")`],
    'Device.statistics': [`(from: "${FAR.from}", to: "${FAR.to}")`],
    'Device.measurements': ['(field: "hidden_one")', '(field: "shown")'],
  };

  /** The ways to the objects below a type, each once from every field that leads there, with their plain fields. */
  function* waysBelow(root: GraphQLObjectType): Generator<{ way: string[]; plain: string[] }> {
    const seen = new Set<GraphQLObjectType>();
    const next: [GraphQLObjectType, string[]][] = [[root, []]];
    for (let one = next.shift(); one !== undefined; one = next.shift()) {
      const [type, way] = one;
      const fields = Object.values(type.getFields());
      yield { way, plain: fields.filter((field) => !isObjectType(getNamedType(field.type))).map(({ name }) => name) };
      if (seen.has(type)) continue;
      seen.add(type);
      for (const { name, type: of } of fields) {
        const below = getNamedType(of);
        const ways = isObjectType(below) ? (ARGUMENTS[`${type.name}.${name}`] ?? ['']) : [];
        for (const given of ways) next.push([below as GraphQLObjectType, [...way, name + given]]);
      }
    }
  }
  const ROOTS = [
    ['product(id: "PRODUCT")', 'Product'],
    ['device(id: "DEVICE")', 'Device'],
    ['workspace(id: "WORKSPACE")', 'Workspace'],
    ['viewer', 'Viewer'],
  ] as const;

  /** The plain fields of the schema in which the token is shown something hidden. */
  async function hiddenIn(token: string): Promise<string[]> {
    const found: string[] = [];
    const ask = async (
      root: string,
      way: string[],
      plain: string,
    ): Promise<{ isHidden: boolean; isRefused: boolean }> => {
      const query = `{ ${[root, ...way].join(' { ')} { ${plain} }${' }'.repeat(way.length + 1)}`
        .replace('PRODUCT', tenant.productId)
        .replace('DEVICE', tenant.deviceId)
        .replace('WORKSPACE', tenant.workspaceId)
        .replace('CALL', tenant.callId);
      const { data, errors } = await server.query(query, {}, token);
      // What was asked for may stand in the error.
      const said = (errors ?? []).map(({ message }) => message.replaceAll('"hidden_one"', ''));
      const names = ({ path = [] }: { path?: unknown[] }): number =>
        path.filter((name) => typeof name === 'string').length;
      // A field at the end of the way, and not the way itself.
      const isRefused = (errors ?? []).some((error) => names(error) === way.length + 2);
      return { isHidden: HIDDEN.test(JSON.stringify([data, said])), isRefused };
    };
    for (const [root, type] of ROOTS)
      for (const { way, plain } of waysBelow(schema.getType(type) as GraphQLObjectType)) {
        if (plain.length === 0) continue;
        const { isHidden, isRefused } = await ask(root, way, plain.join(' '));
        if (!isHidden && !isRefused) continue;
        // One refusal may hide all others of its object.
        for (const name of plain)
          if ((await ask(root, way, name)).isHidden) found.push([type, ...way, name].join('.').replace(/\(.*?\)/g, ''));
      }
    return found;
  }

  test('no part of the schema shows anything hidden, where a token with all fields is shown it', async () => {
    const { personal, workspaceId, tokens } = tenant;
    const all = await createToken(server, personal, workspaceId, ['READ', 'RECORD']);
    const seen = await hiddenIn(all.secret);
    // The eye sees: identifiers, values, calls, decoders, configuration, metadata, dashboards, suggestions.
    for (const leaf of [
      'Product.fields.identifier',
      'Product.dashboard',
      'Product.suggestedFields.identifier',
      'Product.calls.edges.node.body',
      'Product.decoderExamples.name',
      'Product.decoder.note',
      'Product.configurationFields.default',
      'Device.latest.value',
      'Device.metadata',
      'Device.location',
      'Device.configuration.value',
      'Device.statistics.max',
      'Device.measurements.edges.node.timestamp',
    ])
      expect(seen).toContain(leaf);
    expect(await hiddenIn(tokens.workspace.secret)).toEqual([]);
  });

  test('no field can be searched for, or found by the number in a cursor of another', async () => {
    const token = tenant.tokens.workspace.secret;
    for (const what of ['products', 'devices']) {
      const { [what]: found } = await server.gql(`{ ${what}(search: "hidden") { totalCount } }`, {}, token);
      expect(found.totalCount).toBe(0);
    }
    const query =
      'query ($id: ID!, $field: String!, $after: String) { device(id: $id) { measurements(field: $field, first: 1, after: $after) { edges { cursor node { value } } } } }';
    const id = tenant.deviceId;
    const { device } = await server.gql(query, { id, field: 'hidden_one' }, tenant.personal);
    const after = device.measurements.edges[0].cursor;
    const answer = await server.query(query, { id, field: 'shown', after }, token);
    expect(answer.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });
});
