import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';

const ADD = 'mutation ($p: ID!, $input: FieldInput!) { addField(productId: $p, input: $input) { id identifier role } }';
const UPDATE = 'mutation ($id: ID!, $input: UpdateFieldInput!) { updateField(id: $id, input: $input) { role } }';
const CLONE = `mutation ($id: ID!, $name: String!) { cloneProduct(id: $id, name: $name) {
  id name deviceType dashboard webhookId webhookUrl offlineAfterSeconds
  fields { identifier type name unit description role } decoder { version source note active }
  decoderVersions { version } decoderExamples { name request expected } devices { totalCount }
} }`;
const SUGGESTED = 'query ($p: ID!) { product(id: $p) { suggestedFields { identifier seen } } }';
const IGNORE = `mutation ($p: ID!, $i: String!, $ignore: Boolean) {
  ignoreSuggestedField(productId: $p, identifier: $i, ignore: $ignore) { id suggestedFields { identifier seen } }
}`;

describe.each(EITHER_DATABASE)('parts of products on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  let token: string;

  beforeAll(async () => {
    server = await startServer({ database, compared: true });
    workspaceId = await createWorkspace(server, 'parts');
    ({ token } = await createMember(server, workspaceId, 'ADMIN'));
  });

  afterAll(async () => {
    await server?.stop();
  });

  test('a role stands at most once in a product and moves when it is free', async () => {
    const { id } = await createProduct(server, { token, serialNumbers: [] });
    const { id: other } = await createProduct(server, { token, serialNumbers: [] });
    const add = (p: string, identifier: string, role: string | null) =>
      server.query(ADD, { p, input: { identifier, type: 'FLOAT', role } }, token);
    const battery = (await add(id, 'battery', 'BATTERY')).data?.addField;
    expect(battery).toMatchObject({ role: 'BATTERY' });
    expect((await add(other, 'battery', 'BATTERY')).data?.addField.role).toBe('BATTERY');
    expect((await add(id, 'battery2', 'BATTERY')).errors?.[0]).toMatchObject({
      message: expect.stringContaining('"battery" is BATTERY already'),
      extensions: { code: 'CONFLICT' },
    });
    const second = (await add(id, 'battery2', null)).data?.addField;
    const update = (field: string, role: string | null) => server.query(UPDATE, { id: field, input: { role } }, token);
    expect((await update(second.id, 'BATTERY')).errors?.[0]?.extensions.code).toBe('CONFLICT');
    expect((await update(battery.id, 'BATTERY')).data?.updateField.role).toBe('BATTERY');
    expect((await update(battery.id, null)).data?.updateField.role).toBeNull();
    expect((await update(second.id, 'BATTERY')).data?.updateField.role).toBe('BATTERY');
    const twice = await server.query(
      'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id } }',
      {
        input: {
          name: 'twice',
          fields: [
            { identifier: 'a', type: 'FLOAT', role: 'PRIMARY' },
            { identifier: 'b', type: 'FLOAT', role: 'PRIMARY' },
          ],
        },
      },
      token,
    );
    expect(twice.errors?.[0]).toMatchObject({
      message: expect.stringContaining('input.fields[1].role'),
      extensions: { code: 'CONFLICT' },
    });
  });

  test('a list of mixed products shows the role of each latest value', async () => {
    const { deviceIds } = await createProduct(server, {
      token,
      serialNumbers: ['roles'],
      input: { fields: [{ identifier: 'v', type: 'FLOAT', role: 'PRIMARY' }] },
    });
    await server.record(deviceIds[0]!, [{ field: 'v', value: 4 }], { token });
    const { device } = await server.gql(
      'query ($d: ID!) { device(id: $d) { latest { value field { role } } } }',
      { d: deviceIds[0] },
      token,
    );
    expect(device.latest).toEqual([{ value: 4, field: { role: 'PRIMARY' } }]);
  });

  test('a clone has fields, decoder, examples and dashboard, no devices, and a webhook of its own', async () => {
    const dashboard = {
      widgets: [{ kind: 'line', fields: ['temperature'], place: { x: 0, y: 0, width: 2, height: 2 } }],
    };
    const { id, webhookId } = await createProduct(server, {
      token,
      serialNumbers: ['clone-1'],
      input: {
        deviceType: 'LORAWAN',
        dashboard,
        offlineAfterSeconds: 77,
        fields: [
          { identifier: 'temperature', type: 'FLOAT', name: 'T', unit: '°C', description: 'd', role: 'PRIMARY' },
        ],
      },
    });
    const sources = ['function Decoder() { return []; }', 'function Decoder() { return null; }'];
    for (const source of sources)
      await server.gql(
        'mutation ($p: ID!, $s: String!) { saveDecoder(productId: $p, source: $s, note: $s) { version } }',
        { p: id, s: source },
        token,
      );
    await server.gql(
      'mutation ($p: ID!) { addDecoderExample(productId: $p, name: "e", request: { body: "{}" }, expected: []) { id } }',
      { p: id },
      token,
    );
    const { cloneProduct: clone } = await server.gql(CLONE, { id, name: 'the clone' }, token);
    expect(clone).toMatchObject({
      name: 'the clone',
      deviceType: 'LORAWAN',
      dashboard,
      offlineAfterSeconds: 77,
      fields: [{ identifier: 'temperature', type: 'FLOAT', name: 'T', unit: '°C', description: 'd', role: 'PRIMARY' }],
      decoder: { version: 1, source: sources[1], note: sources[1], active: true },
      decoderVersions: [{ version: 1 }],
      decoderExamples: [{ name: 'e', request: { body: '{}' }, expected: [] }],
      devices: { totalCount: 0 },
    });
    expect(clone.id).not.toBe(id);
    expect(clone.webhookId).not.toBe(webhookId);
    const call = await fetch(`${server.url}/integrations/api/${clone.webhookId}/`, { method: 'POST', body: '{}' });
    expect(call.status).toBe(200);
  });

  test('only who may configure the workspace clones', async () => {
    const { id } = await createProduct(server, { token, serialNumbers: [] });
    const limited = await createToken(server, token, workspaceId, ['READ', 'CONFIGURE'], { productIds: [id] });
    const reader = await createToken(server, token, workspaceId, ['READ']);
    for (const { secret } of [limited, reader])
      expect((await server.query(CLONE, { id, name: 'no' }, secret)).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  });

  test('an ignored suggestion is off the list, goes on being counted, and comes back', async () => {
    const { id, deviceIds } = await createProduct(server, { token, serialNumbers: ['ignored'] });
    const send = () =>
      server.record(
        deviceIds[0]!,
        [
          { field: 'unknown', value: 1 },
          { field: 'other', value: 1 },
        ],
        { token },
      );
    const identifiers = (product: any) => product.suggestedFields.map(({ identifier }: any) => identifier);
    await send();
    const { ignoreSuggestedField } = await server.gql(IGNORE, { p: id, i: 'unknown' }, token);
    expect(identifiers(ignoreSuggestedField)).toEqual(['other']);
    await send();
    expect(identifiers((await server.gql(SUGGESTED, { p: id }, token)).product)).toEqual(['other']);
    const back = await server.gql(IGNORE, { p: id, i: 'unknown', ignore: false }, token);
    expect(back.ignoreSuggestedField.suggestedFields).toContainEqual({ identifier: 'unknown', seen: 2 });
    const never = await server.query(IGNORE, { p: id, i: 'never' }, token);
    expect(never.errors?.[0]?.extensions.code).toBe('NOT_FOUND');
  });
});
