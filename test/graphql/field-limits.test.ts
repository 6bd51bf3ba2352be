import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLimitedTenant, HIDDEN, type LimitedTenant } from '../support/field-limits.ts';
import { EITHER_DATABASE, readAnswer, startServer, type TestServer } from '../support/server.ts';
import { firstPush } from '../support/subscribe.ts';
import { createToken } from '../support/tenant.ts';

const FAR = { from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' };
const CREATE = 'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret token { id fields } } }';
const LIMITS = ['workspace', 'product', 'device'] as const;

describe.each(EITHER_DATABASE)('tokens limited to fields, on %s', (database) => {
  let server: TestServer;
  let tenant: LimitedTenant;

  beforeAll(async () => {
    server = await startServer({ database });
    tenant = await createLimitedTenant(server);
  });
  afterAll(() => server?.stop());

  const secret = (limit: (typeof LIMITS)[number] = 'workspace'): string => tenant.tokens[limit].secret;

  async function refusal(query: string, variables: object, token: string): Promise<string> {
    const { errors } = await server.query(query, variables, token);
    return `${errors?.[0]?.extensions.code}: ${errors?.[0]?.message}`;
  }

  function input(more: object): object {
    return { input: { name: 'x', kind: 'INDIVIDUAL', workspaceId: tenant.workspaceId, ...more } };
  }

  test('a token says which fields it is limited to, null for all, and in lists as well', async () => {
    const made = await server.gql(CREATE, input({ scopes: ['READ'], fields: ['b', 'a', 'b'] }), tenant.personal);
    expect(made['createToken'].token.fields).toEqual(['b', 'a']);
    const all = await server.gql(CREATE, input({ scopes: ['READ'] }), tenant.personal);
    expect(all['createToken'].token.fields).toBeNull();
    const { viewer } = await server.gql('{ viewer { token { fields } } }', {}, made['createToken'].secret);
    expect(viewer.token.fields).toEqual(['b', 'a']);
    const list = 'query ($id: ID!) { workspace(id: $id) { tokens { name fields } } }';
    const { workspace } = await server.gql(list, { id: tenant.workspaceId }, tenant.personal);
    expect(workspace.tokens).toContainEqual({ name: 'device', fields: ['shown'] });
  });

  test.each([
    ['an empty list', { scopes: ['READ'], fields: [] }, 'input.fields: leave it out for no limit'],
    [
      'what is no identifier',
      { scopes: ['READ'], fields: ['a', 'a b'] },
      'input.fields[1]: "a b" is no field identifier',
    ],
    ['CONFIGURE', { scopes: ['READ', 'CONFIGURE'], fields: ['a'] }, 'a token with scope CONFIGURE reaches every field'],
    ['ADMIN', { scopes: ['ADMIN'], fields: ['a'] }, 'a token with scope ADMIN reaches every field'],
    ['too many', { scopes: ['READ'], fields: Array.from({ length: 1_001 }, (_, n) => `f${n}`) }, 'input.fields'],
  ])('a limit to fields is refused for %s', async (_, more, message) => {
    const said = await refusal(CREATE, input(more), tenant.personal);
    expect(said).toMatch(/^BAD_USER_INPUT/);
    expect(said).toContain(message);
  });

  test('a PERSONAL token takes no fields', async () => {
    const given = { input: { name: 'x', kind: 'PERSONAL', fields: ['a'] } };
    expect(await refusal(CREATE, given, tenant.personal)).toContain('BAD_USER_INPUT: input.fields');
  });

  test('updateToken changes the fields at once, clears them, and never beside CONFIGURE', async () => {
    const { personal, workspaceId, deviceId } = tenant;
    const update =
      'mutation ($id: ID!, $fields: [String!]) { updateToken(id: $id, input: { fields: $fields }) { fields } }';
    const seen = 'query ($id: ID!) { device(id: $id) { product { fields { identifier } } } }';
    const made = await createToken(server, personal, workspaceId, ['READ'], { fields: ['shown'] });
    const identifiers = async (): Promise<string[]> => {
      const { device } = await server.gql(seen, { id: deviceId }, made.secret);
      return device.product.fields.map((field: { identifier: string }) => field.identifier);
    };
    expect(await identifiers()).toEqual(['shown']);
    await server.gql(update, { id: made.id, fields: ['shown_too', 'nothing'] }, personal);
    expect(await identifiers()).toEqual(['shown_too']);
    await server.gql(update, { id: made.id, fields: null }, personal);
    expect(await identifiers()).toContain('hidden_one');
    const wide = await createToken(server, personal, workspaceId, ['CONFIGURE']);
    expect(await refusal(update, { id: wide.id, fields: ['shown'] }, personal)).toContain('scope CONFIGURE');
  });

  test.each(LIMITS)('by %s it reads its fields, in every way', async (limit) => {
    const { device } = await server.gql(
      `query ($id: ID!, $from: DateTime!, $to: DateTime!) {
         device(id: $id) {
           latest { field { identifier } value }
           history(from: $from, to: $to) { field { identifier } values }
           statistics(from: $from, to: $to) { field { identifier } count max }
           measurements(field: "shown") { edges { node { value } } totalCount }
         }
       }`,
      { id: tenant.deviceId, ...FAR },
      secret(limit),
    );
    const field = { identifier: 'shown' };
    expect(device).toEqual({
      latest: [{ field, value: 20.5 }],
      history: [{ field, values: [20.5] }],
      statistics: [{ field, count: 1, max: 20.5 }],
      measurements: { edges: [{ node: { value: 20.5 } }], totalCount: 1 },
    });
  });

  test.each([
    'latest(fields: [$field]) { value }',
    'history(fields: [$field], from: $from, to: $to) { values }',
    'statistics(fields: [$field], from: $from, to: $to) { count }',
    'measurements(field: $field) { totalCount }',
  ])('a hidden field and one that does not exist answer the same to %s', async (what) => {
    const ask = async (field: string): Promise<string> => {
      const times = what.includes('$from') ? ', $from: DateTime!, $to: DateTime!' : '';
      const query = `query ($id: ID!, $field: String!${times}) { device(id: $id) { ${what} } }`;
      return (await refusal(query, { id: tenant.deviceId, field, ...FAR }, secret())).replace(field, 'FIELD');
    };
    expect(await ask('hidden_one')).toBe(await ask('never_was'));
    expect(await ask('hidden_one')).toMatch(
      /^BAD_USER_INPUT: This token is limited to some fields, and "FIELD" is none/,
    );
  });

  test('history of many devices, and product.field, show nothing of a hidden field', async () => {
    const many = `query ($ids: [ID!], $from: DateTime!, $to: DateTime!, $fields: [String!]) {
      history(deviceIds: $ids, from: $from, to: $to, fields: $fields) { series { field { identifier } } } }`;
    const ids = [tenant.deviceId, tenant.otherDeviceId];
    const { history } = await server.gql(many, { ids, ...FAR }, secret());
    expect(history).toEqual([{ series: [{ field: { identifier: 'shown' } }] }, { series: [] }]);
    expect(await refusal(many, { ids, ...FAR, fields: ['hidden_one'] }, secret())).toContain('limited to some fields');
    const one =
      'query ($id: ID!) { product(id: $id) { a: field(identifier: "shown") { name } b: field(identifier: "hidden_one") { name } } }';
    expect((await server.gql(one, { id: tenant.productId }, secret()))['product']).toEqual({
      a: { name: 'Shown' },
      b: null,
    });
  });

  test('a dashboard has no widgets of hidden fields, nor titles and options that name them', async () => {
    const query = 'query ($id: ID!) { product(id: $id) { dashboard } }';
    const { product } = await server.gql(query, { id: tenant.productId }, secret('product'));
    const place = { x: 0, y: 0, width: 3, height: 2 };
    expect(product.dashboard).toEqual({
      widgets: [
        { kind: 'value', title: 'Shown', fields: ['shown'], place },
        { kind: 'value', fields: ['shown'], place },
        { kind: 'line', fields: ['shown'], range: '7d', place },
      ],
    });
  });

  test('live values of its fields are pushed, a batch without them is not, and after a cursor neither', async () => {
    const { deviceId, personal } = tenant;
    const subscription = (more: string): string =>
      `subscription ($id: ID!) { measurementsRecorded(deviceIds: [$id]${more}) { cursor measurements { field { identifier } value } } }`;
    const record = async (...entries: object[]): Promise<void> => {
      expect((await server.record(deviceId, entries, { token: personal })).status).toBe(200);
    };
    const following = firstPush(server.url, secret('device'), subscription(''), { id: deviceId });
    const everything = firstPush(server.url, personal, subscription(''), { id: deviceId });
    const sent = setInterval(() => void record({ field: 'hidden_one', value: 77.125 }), 50);
    const first = await everything;
    clearInterval(sent);
    expect(first?.data?.['measurementsRecorded'].measurements[0].field.identifier).toBe('hidden_one');
    await record({ field: 'hidden_one', value: 77.125 }, { field: 'shown', value: 21 });
    const measurements = [{ field: { identifier: 'shown' }, value: 21 }];
    expect((await following)?.data?.['measurementsRecorded'].measurements).toEqual(measurements);
    const { cursor } = first!.data!['measurementsRecorded'];
    const since = await firstPush(server.url, secret(), subscription(`, after: "${cursor}"`), { id: deviceId });
    expect(since?.data?.['measurementsRecorded'].measurements).toEqual(measurements);
    const refused = await firstPush(server.url, secret(), subscription(', fields: ["hidden_one"]'), { id: deviceId });
    expect(refused?.errors?.[0]?.message).toContain('limited to some fields');
    const anywhere = 'subscription { measurementsRecorded(fields: ["hidden_one"]) { cursor } }';
    const nowhere = await firstPush(server.url, secret(), anywhere, {});
    expect(nowhere?.errors?.[0]?.message).toContain('limited to some fields');
  });

  test.each(LIMITS)('by %s it records its fields, and what names another is UNKNOWN_FIELD', async (limit) => {
    const { deviceId, productId, personal } = tenant;
    const entries = ['shown', 'hidden_one', 'never_was', 'hidden_two'].map((field, at) => ({ field, value: at }));
    const { status, body } = await server.record(deviceId, entries, { token: secret(limit) });
    expect([status, body.stored]).toEqual([207, 1]);
    const refused = (index: number, field: string): object => ({
      index,
      field,
      code: 'UNKNOWN_FIELD',
      message: `This token is limited to some fields, and "${field}" is none of them (identifiers are case-sensitive).`,
    });
    expect(body.rejected).toEqual([refused(1, 'hidden_one'), refused(2, 'never_was'), refused(3, 'hidden_two')]);
    const alone = await server.record(deviceId, { field: 'hidden_one', value: 1 }, { token: secret(limit) });
    expect([alone.status, alone.body.code]).toEqual([400, 'NOTHING_STORED']);
    const mutation = `mutation ($id: ID!, $entries: [EntryInput!]!) {
      recordMeasurements(deviceId: $id, entries: $entries) { stored rejected { index code matchedField { id } suggestedField { identifier } } } }`;
    const { recordMeasurements } = await server.gql(mutation, { id: deviceId, entries }, secret(limit));
    expect(recordMeasurements.stored).toBe(1);
    expect(recordMeasurements.rejected).toEqual(
      [1, 2, 3].map((index) => ({ index, code: 'UNKNOWN_FIELD', matchedField: null, suggestedField: null })),
    );
    const stored =
      'query ($id: ID!, $product: ID!) { device(id: $id) { measurements(field: "hidden_two") { totalCount } } product(id: $product) { suggestedFields { identifier } } }';
    const seen = await server.gql(stored, { id: deviceId, product: productId }, personal);
    expect(seen['device'].measurements.totalCount).toBe(1);
    expect(JSON.stringify(seen['product'].suggestedFields)).not.toContain('never_was');
  });

  test('a retry of another token is known although one limited to fields asked first', async () => {
    const { personal, productId } = tenant;
    const create =
      'mutation ($id: ID!) { createDevices(productId: $id, devices: [{ name: "slow" }], plan: "unlimited") { id } }';
    const { createDevices } = await server.gql(create, { id: productId }, personal);
    const [{ id }] = createDevices;
    await server.gql('mutation ($id: ID!) { setWriteRate(deviceId: $id, perSecond: 0.001) }', { id }, personal);
    const at = Math.floor(Date.now() / 1000) - 60;
    const hidden = { field: 'hidden_one', value: 5, timestamp: at };
    const mutation =
      'mutation ($id: ID!, $at: DateTime!) { recordMeasurements(deviceId: $id, entries: [{ field: "hidden_one", value: 5, timestamp: $at }]) { stored } }';
    await server.gql(mutation, { id, at: new Date(at * 1000).toISOString() }, personal);
    await server.record(id, { field: 'shown', value: 5, timestamp: at - 60 }, { token: secret() });
    // The only write of this field that the limit allows.
    await server.record(id, { field: 'hidden_one', value: 6, timestamp: at - 30 }, { token: personal });
    expect((await server.record(id, hidden, { token: personal })).status).toBe(200);
  });

  const FILES = ['history.csv', 'history.ndjson'].flatMap((name) => [
    `/v1/devices/DEVICE/${name}`,
    `/v1/devices/SERIAL/${name}`,
  ]);

  test.each([...FILES, '/v1/export.csv', '/v1/export.ndjson', '/v1/export.csv?product=PRODUCT'])(
    '%s holds its fields alone',
    async (path) => {
      const url = path
        .replace('DEVICE', tenant.deviceId)
        .replace('SERIAL', encodeURIComponent(tenant.serialNumber))
        .replace('PRODUCT', tenant.productId);
      const headers = { Authorization: `Token ${secret()}` };
      for (const more of ['', 'layout=wide', `resolution=1d&from=${FAR.from}&to=2027-06-01`]) {
        const response = await fetch(`${server.url}${url}${url.includes('?') ? '&' : '?'}${more}`, { headers });
        const text = await response.text();
        expect(text).toContain('shown');
        expect(text).not.toMatch(HIDDEN);
        expect(text).not.toContain('NOTE');
      }
      const hidden = await fetch(`${server.url}${url}${url.includes('?') ? '&' : '?'}fields=hidden_one`, { headers });
      const never = await fetch(`${server.url}${url}${url.includes('?') ? '&' : '?'}fields=never_was`, { headers });
      expect([hidden.status, never.status]).toEqual([400, 400]);
      const [one, other] = [await readAnswer(hidden), await readAnswer(never)];
      expect(one.body.detail.replace('hidden_one', '')).toBe(other.body.detail.replace('never_was', ''));
    },
  );
});
