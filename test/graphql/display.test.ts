import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';

const ADD = 'mutation ($p: ID!, $input: FieldInput!) { addField(productId: $p, input: $input) { id display } }';
const UPDATE = 'mutation ($id: ID!, $input: UpdateFieldInput!) { updateField(id: $id, input: $input) { display } }';
const CLONE = 'mutation ($id: ID!) { cloneProduct(id: $id, name: "copy") { fields { identifier display } } }';
const WORDS = [{ value: true, text: 'Open', color: 'red' }, { value: false, text: 'Closed' }]; // oxfmt-ignore

describe.each(EITHER_DATABASE)('the look of values on %s', (database) => {
  let server: TestServer;
  let p: string;
  let device: string;
  let at = 0;

  beforeAll(async () => {
    server = await startServer({ database, compared: true });
    ({
      id: p,
      deviceIds: [device = ''],
    } = await createProduct(server, { fields: { door: 'BOOLEAN' } }));
  });

  afterAll(async () => {
    await server?.stop();
  });

  async function add(type: string, display: unknown): Promise<{ id: string; display: unknown }> {
    return (await server.gql(ADD, { p, input: { identifier: `f${(at += 1)}`, type, display } }))['addField'];
  }

  async function change(id: string, input: Record<string, unknown>): Promise<unknown> {
    return (await server.gql(UPDATE, { id, input }))['updateField'].display;
  }

  async function refusal(type: string, display: unknown): Promise<string> {
    const { errors } = await server.query(ADD, { p, input: { identifier: 'refused', type, display } });
    return `${errors?.[0]?.extensions.code} ${errors?.[0]?.message}`;
  }

  test('a field keeps its decimals, words and bounds, beside values too, and a clone has them', async () => {
    const { id, display } = await add('FLOAT', { low: 3.3, decimals: 2, high: null, words: [] });
    expect(display).toEqual({ decimals: 2, low: 3.3 });
    expect(await change(id, { unit: 'V' })).toEqual({ decimals: 2, low: 3.3 });
    const { product } = await server.gql('query ($p: ID!) { product(id: $p) { field(identifier: "door") { id } } }', { p }); // oxfmt-ignore
    expect(await change(product.field.id, { display: { words: WORDS } })).toEqual({ words: WORDS });
    await server.record(device, { field: 'door', value: true });
    const { device: read } = await server.gql('query ($id: ID!) { device(id: $id) { latest { value field { display } } } }', { id: device }); // oxfmt-ignore
    expect(read.latest).toEqual([{ value: true, field: { display: { words: WORDS } } }]);
    const { cloneProduct } = await server.gql(CLONE, { id: p });
    expect(cloneProduct.fields).toContainEqual({ identifier: 'door', display: { words: WORDS } });
    expect(cloneProduct.fields).toContainEqual({ identifier: 'f1', display: { decimals: 2, low: 3.3 } });
    expect(await change(id, { display: null })).toBeNull();
  });

  test('another type takes away what no longer fits it', async () => {
    const words = [{ value: 1, text: 'running' }];
    const { id } = await add('INTEGER', { words, high: 5 });
    expect(await change(id, { type: 'FLOAT' })).toEqual({ words, high: 5 });
    expect(await change(id, { type: 'STRING' })).toBeNull();
    const half = await add('FLOAT', { words: [{ value: 0.5, color: 'amber' }], high: 5 });
    expect(await change(half.id, { type: 'INTEGER' })).toEqual({ high: 5 });
  });

  test('a mistake is told with its path', async () => {
    for (const [type, display, told] of [
      ['FLOAT', { decimal: 2 }, 'input.display.decimal: unknown key'],
      ['FLOAT', { decimals: 1.5 }, 'input.display.decimals: expected a whole number from 0 to 10'],
      ['FLOAT', { low: 5, high: 5 }, 'input.display.low: 5 is not below'],
      ['FLOAT', { low: '3' }, 'input.display.low: expected a number'],
      ['STRING', { high: 5 }, 'input.display.high: is for FLOAT and INTEGER'],
      ['GEOLOCATION', { words: [{ value: '(1,2)', text: 'home' }] }, 'input.display.words: a place has no words'],
      ['BOOLEAN', { words: [{ value: 1, text: 'on' }] }, 'input.display.words[0].value: 1 is no BOOLEAN'],
      ['INTEGER', { words: [{ value: 1.5, text: 'on' }] }, 'input.display.words[0].value: 1.5 is no INTEGER'],
      ['BOOLEAN', { words: [WORDS[0], WORDS[0]] }, 'input.display.words[1].value: true has words already'],
      ['BOOLEAN', { words: [{ value: true }] }, 'input.display.words[0]: give it a text'],
      ['BOOLEAN', { words: [{ value: true, color: 'pink' }] }, 'input.display.words[0].color: expected one of green'],
      ['STRING', { words: [{ value: 'a', text: 'x'.repeat(61) }] }, 'input.display.words[0].text: 61 characters'],
      ['STRING', { words: [{ value: 'a'.repeat(2_000), text: 'x' }] }, 'at most 2000 are allowed'],
      ['STRING', [], 'input.display: expected an object'],
    ] as const)
      expect(await refusal(type, display)).toMatch(new RegExp(`BAD_USER_INPUT .*${told.replaceAll(/[[\]]/g, '\\$&')}`));
  });
});
