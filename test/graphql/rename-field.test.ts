import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, DATABASES, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';

const RENAME = 'mutation ($id: ID!, $to: String!) { renameField(id: $id, identifier: $to) { id identifier aliases } }';
const place = { x: 0, y: 0, width: 6, height: 4 };

describe.each(DATABASES)('another identifier for a field, on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  let token: string;
  let admin: string;
  beforeAll(async () => {
    server = await startServer({ database });
    workspaceId = await createWorkspace(server, 'rename');
    ({ token } = await createMember(server, workspaceId, 'EDITOR'));
    ({ token: admin } = await createMember(server, workspaceId, 'ADMIN'));
  });
  afterAll(async () => {
    await server?.stop();
  });

  let named = 0;
  async function make(input: Record<string, unknown> = {}): Promise<TestProduct & { fieldId: string; device: string }> {
    named += 1;
    const fields = { old: 'FLOAT', other: 'FLOAT' };
    const product = await createProduct(server, { token, fields, serialNumbers: [`d${named}`], input });
    const { product: read } = await server.gql(
      'query ($id: ID!) { product(id: $id) { field(identifier: "old") { id } } }',
      { id: product.id },
      token,
    );
    return { ...product, fieldId: read.field.id, device: product.deviceIds[0]! };
  }

  const rename = async (id: string, to: string) => (await server.gql(RENAME, { id, to }, token))['renameField'];

  async function refusal(query: string, variables: unknown): Promise<Record<string, any>> {
    const answer = await server.query(query, variables, token);
    expect(answer.data).toBeNull();
    return { message: answer.errors![0]!.message, ...answer.errors![0]!.extensions };
  }

  async function valuesOf(device: string, field: string): Promise<unknown[]> {
    const range = 'from: "2020-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z"';
    const query = `query ($id: ID!, $f: [String!]) { device(id: $id) { history(fields: $f, ${range}) { field { identifier } values } } }`;
    const { device: read } = await server.gql(query, { id: device, f: [field] }, token);
    expect(read.history).toHaveLength(1);
    return read.history[0].values;
  }

  const at = (second: number): number => 1_790_000_000 + second;

  test('values stay, and senders go on under both, at every door', async () => {
    const { fieldId, device, webhookId, id } = await make({
      decoder:
        'function Decoder(request) { const d = request.body; const before = measurements[deviceSerialToId[d]]; ' +
        `return { device: d, field: "old", value: before.old.value + before.renamed.value, timestamp: ${at(5)} } }`,
    });
    const record = (entries: object[]) => server.record(device, entries, { token });
    await record([{ field: 'old', value: 1, timestamp: at(1) }]);
    expect(await rename(fieldId, 'renamed')).toEqual({ id: fieldId, identifier: 'renamed', aliases: ['old'] });
    expect((await record([{ field: 'renamed', value: 2, timestamp: at(2) }])).status).toBe(200);
    expect((await record([{ field: 'old', value: 3, timestamp: at(3) }])).status).toBe(200);
    const both = await record([
      { field: 'old', value: 0, timestamp: at(4) },
      { field: 'renamed', value: 4, timestamp: at(4) },
    ]);
    expect(both.body).toMatchObject({ stored: 1, rejected: [{ index: 0, code: 'DUPLICATE_IN_REQUEST' }] });
    const call = await fetch(`${server.url}/integrations/api/${webhookId}/`, { method: 'POST', body: `d${named}` });
    expect(await call.json()).toEqual({ stored: 1, rejected: 0 });
    const file = await fetch(`${server.url}/v1/devices/${device}/import`, {
      method: 'POST',
      headers: { Authorization: `Token ${token}`, 'Content-Type': 'text/csv' },
      body: `timestamp,old\n${at(6)},6\n`,
    });
    expect(await file.json()).toMatchObject({ stored: 1, refused: 0 });
    for (const name of ['renamed', 'old']) expect(await valuesOf(device, name)).toEqual([1, 2, 3, 4, 8, 6]);
    const { product } = await server.gql(
      'query ($id: ID!) { product(id: $id) { fields { identifier } suggestedFields { identifier } } }',
      { id },
      token,
    );
    expect(product.fields.map((field: { identifier: string }) => field.identifier)).toEqual(['renamed', 'other']);
    expect(product.suggestedFields).toEqual([]);
    const answer = await fetch(`${server.url}/v1/devices/${device}/history.csv`, {
      headers: { Authorization: `Token ${token}` },
    });
    expect((await answer.text()).split('\n')[1]).toMatch(/,renamed,/);
  });

  test('an earlier identifier is given back, forgotten, and kept from others until then', async () => {
    const { fieldId, device, id } = await make();
    await rename(fieldId, 'second');
    expect(await rename(fieldId, 'third')).toMatchObject({ identifier: 'third', aliases: ['old', 'second'] });
    expect(await rename(fieldId, 'old')).toMatchObject({ identifier: 'old', aliases: ['second', 'third'] });
    expect(await rename(fieldId, 'old')).toMatchObject({ identifier: 'old', aliases: ['second', 'third'] });
    const add = `mutation ($id: ID!) { addField(productId: $id, input: { identifier: "third", type: FLOAT }) { id } }`;
    const taken = await refusal(add, { id });
    expect(taken).toMatchObject({ code: 'CONFLICT', existingId: fieldId });
    expect(taken['message']).toContain('"third" is an earlier identifier of the field "old"');
    const { addField: fourth } = await server.gql(add.replace('third', 'fourth'), { id }, token);
    expect(await refusal(RENAME, { id: fourth.id, to: 'third' })).toMatchObject({ existingId: fieldId });
    expect(await refusal(RENAME, { id: fourth.id, to: 'other' })).toMatchObject({ code: 'CONFLICT' });
    for (const to of ['', 'a b', 'x'.repeat(65)])
      expect(await refusal(RENAME, { id: fourth.id, to })).toMatchObject({ code: 'BAD_USER_INPUT' });
    const forget = 'mutation ($id: ID!) { removeFieldAlias(id: $id, identifier: "third") { aliases } }';
    for (const _ of ['once', 'twice'])
      expect(await server.gql(forget, { id: fieldId }, token)).toEqual({ removeFieldAlias: { aliases: ['second'] } });
    const gone = await server.record(device, [{ field: 'third', value: 1 }], { token });
    expect(gone.body).toMatchObject({ rejected: [{ code: 'UNKNOWN_FIELD' }] });
    await server.gql(add, { id }, token);
    expect((await server.record(device, [{ field: 'third', value: 1 }], { token })).status).toBe(200);
  });

  test('the dashboard, a copy and tokens limited to the field follow', async () => {
    const widget = { kind: 'line', fields: ['old', 'other'], place };
    const dashboard = { widgets: [widget, { ...widget, fields: ['other'] }] };
    const { fieldId, device, id } = await make({ dashboard });
    const limited = await createToken(server, admin, workspaceId, ['READ', 'RECORD'], { fields: ['old'] });
    expect((await server.record(device, [{ field: 'old', value: 1 }], { token: limited.secret })).status).toBe(200);
    await rename(fieldId, `new-${database}`);
    const read = 'query ($id: ID!) { product(id: $id) { dashboard fields { identifier } } }';
    const { product } = await server.gql(read, { id }, token);
    expect(product.dashboard.widgets.map(({ fields }: { fields: string[] }) => fields)).toEqual([
      [`new-${database}`, 'other'],
      ['other'],
    ]);
    const { product: seen } = await server.gql(read, { id }, limited.secret);
    expect(seen.fields).toEqual([{ identifier: `new-${database}` }]);
    for (const field of ['old', `new-${database}`])
      expect((await server.record(device, [{ field, value: 2 }], { token: limited.secret })).status).toBe(200);
    const clone = 'mutation ($id: ID!) { cloneProduct(id: $id, name: "Copy") { fields { identifier aliases } } }';
    expect((await server.gql(clone, { id }, token))['cloneProduct'].fields).toEqual([
      { identifier: `new-${database}`, aliases: ['old'] },
      { identifier: 'other', aliases: [] },
    ]);
  });

  test('a token limited to the field is shown no other field that has the new identifier', async () => {
    const [one, two] = [await make(), await make()];
    const limited = await createToken(server, admin, workspaceId, ['READ'], { fields: ['old'] });
    const read = 'query ($id: ID!) { product(id: $id) { fields { identifier } } }';
    await rename(one.fieldId, 'elsewhere');
    await server.gql(
      'mutation ($id: ID!) { addField(productId: $id, input: { identifier: "elsewhere2", type: FLOAT }) { id } }',
      { id: two.id },
      token,
    );
    await rename(one.fieldId, 'elsewhere2');
    expect((await server.gql(read, { id: two.id }, limited.secret))['product'].fields).toEqual([{ identifier: 'old' }]);
    expect((await server.gql(read, { id: one.id }, limited.secret))['product'].fields).toEqual([]);
  });

  test('a document that brings a field of the earlier identifier takes it over', async () => {
    const { fieldId, device, id } = await make({ key: 'documented' });
    await rename(fieldId, 'renamed');
    const d = 'products: [{ key: documented, name: product, fields: [{ identifier: old, type: FLOAT }] }]';
    const plan = 'mutation ($w: ID, $d: String!) { planConfiguration(workspaceId: $w, document: $d) { hash } }';
    const apply =
      'mutation ($w: ID, $d: String!, $h: String!) { applyConfiguration(workspaceId: $w, document: $d, hash: $h) { hash } }';
    const { planConfiguration } = await server.gql(plan, { w: workspaceId, d }, admin);
    await server.gql(apply, { w: workspaceId, d, h: planConfiguration.hash }, admin);
    await server.record(device, [{ field: 'old', value: 5 }], { token });
    expect(await valuesOf(device, 'old')).toEqual([5]);
    expect(await valuesOf(device, 'renamed')).toEqual([]);
    const { product } = await server.gql(
      'query ($id: ID!) { product(id: $id) { field(identifier: "old") { id aliases } } }',
      { id },
      token,
    );
    expect(product.field.aliases).toEqual([]);
    expect(await rename(product.field.id, 'newer')).toMatchObject({ aliases: ['old'] });
  });
});
