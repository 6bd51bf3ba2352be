import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestProduct, type TestServer } from '../support/server.ts';

const ADD =
  'mutation ($id: ID!, $input: FieldInput!) { addField(productId: $id, input: $input) { id identifier type name unit description } }';
const UPDATE =
  'mutation ($id: ID!, $input: UpdateFieldInput!) { updateField(id: $id, input: $input) { id identifier type name unit description } }';
const REMOVE = 'mutation ($id: ID!) { removeField(id: $id) }';
const PRODUCT = `query ($id: ID!) {
  product(id: $id) { fields { id identifier } suggestedFields { identifier type lastValue seen lastSeenAt } }
}`;
const LATEST = 'query ($id: ID!) { device(id: $id) { latest { field { id identifier } value } } }';

describe.each(EITHER_DATABASE)('fields on %s', (database) => {
  let server: TestServer;
  let product: TestProduct;
  let device: string;

  beforeAll(async () => {
    server = await startServer({ database, compared: true });
  });

  afterAll(async () => {
    await server?.stop();
  });

  async function fresh(fields: Record<string, string> = {}): Promise<void> {
    product = await createProduct(server, { fields, serialNumbers: ['a', 'b'] });
    device = product.deviceIds[0]!;
  }

  async function add(identifier: string, type = 'FLOAT'): Promise<string> {
    return (await server.gql(ADD, { id: product.id, input: { identifier, type } }))['addField'].id;
  }

  async function refusal(query: string, variables: unknown): Promise<{ code?: string; message?: string }> {
    const answer = await server.query(query, variables);
    expect(answer.data).toBeNull();
    return { code: answer.errors?.[0]?.extensions.code, message: answer.errors?.[0]?.message };
  }

  test('an added field is valid for the next entry, on every device of the product', async () => {
    await fresh();
    const entry = { field: 'late', value: 5 };
    expect((await server.record(device, entry)).body.rejected[0].code).toBe('UNKNOWN_FIELD');
    await add('late', 'INTEGER');
    for (const id of product.deviceIds) expect((await server.record(id, entry)).status).toBe(200);
  });

  test('an unknown identifier is suggested until it is added', async () => {
    await fresh();
    for (const value of [1, 2.5, 'text'])
      await server.record(device, [
        { field: 'mystery', value },
        { field: 'other', value: true },
      ]);
    const before = await server.gql(PRODUCT, { id: product.id });
    expect(before['product'].suggestedFields).toEqual([
      { identifier: 'mystery', type: expect.any(String), lastValue: 'text', seen: 3, lastSeenAt: expect.any(String) },
      { identifier: 'other', type: 'BOOLEAN', lastValue: true, seen: 3, lastSeenAt: expect.any(String) },
    ]);
    await server.record(device, { field: 'other', value: true });
    await add('other', 'BOOLEAN');
    const after = await server.gql(PRODUCT, { id: product.id });
    expect(after['product'].suggestedFields.map((field: { identifier: string }) => field.identifier)).toEqual([
      'mystery',
    ]);
  });

  test('identifiers are unique in their product, case counts', async () => {
    await fresh({ temp: 'FLOAT' });
    const again = await refusal(ADD, { id: product.id, input: { identifier: 'temp', type: 'STRING' } });
    expect(again).toEqual({ code: 'CONFLICT', message: expect.stringContaining('"temp"') });
    await add('TEMP');
    const answers = await Promise.all(
      Array.from({ length: 4 }, () =>
        server.query(ADD, { id: product.id, input: { identifier: 'race', type: 'FLOAT' } }),
      ),
    );
    expect(answers.map((answer) => answer.errors?.[0]?.extensions.code ?? 'added').sort()).toEqual([
      'CONFLICT',
      'CONFLICT',
      'CONFLICT',
      'added',
    ]);
    await fresh({ temp: 'STRING' });
  });

  test('updateField changes what is given; null clears; the identifier and the values stay', async () => {
    await fresh();
    const id = await add('level', 'INTEGER');
    await server.record(device, { field: 'level', value: 7 });
    const update = async (input: unknown): Promise<unknown> => (await server.gql(UPDATE, { id, input }))['updateField'];
    const texts = { name: 'Level', unit: '%', description: 'a\nb' };
    expect(await update(texts)).toEqual({ id, identifier: 'level', type: 'INTEGER', ...texts });
    expect(await update({ unit: null })).toEqual({ id, identifier: 'level', type: 'INTEGER', ...texts, unit: null });
    expect(await update({ type: 'FLOAT', name: '' })).toMatchObject({ type: 'FLOAT', name: null, description: 'a\nb' });
    expect((await server.record(device, { field: 'level', value: 7.5 })).status).toBe(200);
    expect((await refusal(UPDATE, { id, input: { type: null } })).code).toBe('BAD_USER_INPUT');
    expect((await refusal(UPDATE, { id, input: { unit: 'a\0' } })).message).toMatch(/^input\.unit: /);
  });

  test('a removed field takes its measurements along; a new one of the name starts empty', async () => {
    await fresh();
    const id = await add('gone');
    await add('stays');
    for (const target of product.deviceIds)
      await server.record(target, [
        { field: 'gone', value: 1 },
        { field: 'stays', value: 2 },
      ]);
    expect(await server.gql(REMOVE, { id })).toEqual({ removeField: id });
    expect((await server.record(device, { field: 'gone', value: 1 })).body.rejected[0].code).toBe('UNKNOWN_FIELD');
    const again = await add('gone');
    expect(again).not.toBe(id);
    for (const target of product.deviceIds) {
      const { device: found } = await server.gql(LATEST, { id: target });
      expect(found.latest).toEqual([{ field: { id: expect.any(String), identifier: 'stays' }, value: 2 }]);
    }
    expect((await refusal(REMOVE, { id })).code).toBe('NOT_FOUND');
  });

  test.each(['0', '-1', '1.5', '1e3', 'x', '99999999999', '2147483648', ''])('%j is the id of no field', async (id) => {
    expect((await refusal(REMOVE, { id })).code).toBe('NOT_FOUND');
  });

  test('a product has at most 500 fields', async () => {
    const fields = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`f${index}`, 'FLOAT']));
    await fresh(fields);
    expect((await refusal(ADD, { id: product.id, input: { identifier: 'f500', type: 'FLOAT' } })).code).toBe(
      'BAD_USER_INPUT',
    );
    const { product: read } = await server.gql(PRODUCT, { id: product.id });
    expect(read.fields).toHaveLength(500);
  });
});
