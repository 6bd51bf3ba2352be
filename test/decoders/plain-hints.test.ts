import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { callsOf, callWebhook, saveDecoder } from './webhook-client.ts';

describe.each(EITHER_DATABASE)('what is said of odd values on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database });
  });
  afterAll(() => server?.stop());

  const typesOf = async ({ id }: TestProduct): Promise<Record<string, string>> => {
    const { product } = await server.gql(
      'query ($id: ID!) { product(id: $id) { suggestedFields { identifier type } } }',
      { id },
    );
    return Object.fromEntries(
      product.suggestedFields.map(({ identifier, type }: { identifier: string; type: string }) => [identifier, type]),
    );
  };
  const VALUES: [name: string, values: unknown[], type: string][] = [
    ['nulls', [null, null], 'FLOAT'],
    ['null_first', [null, 1.5], 'FLOAT'],
    ['null_last', [1.5, null], 'FLOAT'],
    ['absent', [true, undefined, false], 'BOOLEAN'],
    ['null_true', [null, true], 'BOOLEAN'],
    ['texts_of_numbers', ['1.5', 2, ''], 'FLOAT'],
    ['blank_first', [' ', 'NaN', 2], 'FLOAT'],
    ['mixed', [true, 2], 'FLOAT'],
    ['texts', [null, 'open window', null], 'STRING'],
    ['number_then_text', [1, 'high'], 'STRING'],
    ['text_then_number', ['high', 1], 'STRING'],
  ];

  test('what is absent, null or blank says nothing of the type of a suggestion, in whatever order', async () => {
    const [together, apart, product] = [
      await createProduct(server),
      await createProduct(server),
      await createProduct(server),
    ];
    const record = (of: TestProduct, entries: unknown[]): Promise<unknown> =>
      fetch(`${server.url}/v1/devices/${of.deviceIds[0]}/record/`, {
        method: 'POST',
        headers: { authorization: `Token ${server.adminToken}` },
        body: JSON.stringify(entries),
      });
    const entriesOf = ([field, values]: (typeof VALUES)[number]) => values.map((value) => ({ field, value }));
    await record(together, VALUES.flatMap(entriesOf));
    const expected = Object.fromEntries(VALUES.map(([name, , type]) => [name, type]));
    expect(await typesOf(together)).toEqual(expected);
    // Each written before the next one comes.
    for (const nth of [0, 1, 2]) {
      await record(
        apart,
        VALUES.flatMap((one) => entriesOf(one).slice(nth, nth + 1)),
      );
      await typesOf(apart);
    }
    expect(await typesOf(apart)).toEqual(expected);
    await saveDecoder(
      server,
      product.id,
      'function Decoder(r) { return JSON.parse(r.body).map(([field, value]) => ({ device: "serial-1", field, value })) }',
    );
    for (const [field, values] of VALUES)
      await callWebhook(server, product, { body: JSON.stringify(values.map((value) => [field, value])) });
    expect(await typesOf(product)).toEqual(expected);
  });

  test('a null is called one, and what is missing is called missing', async () => {
    const product = await createProduct(server);
    const answer = await fetch(`${server.url}/v1/devices/${product.deviceIds[0]}/record/`, {
      method: 'POST',
      headers: { authorization: `Token ${server.adminToken}` },
      body: JSON.stringify([{ field: 'temperature', value: null }, { field: 'temperature' }]),
    });
    const { rejected } = (await answer.json()) as { rejected: { code: string; message: string }[] };
    expect(rejected.map(({ code, message }) => [code, message])).toEqual([
      ['MISSING_VALUE', 'The value is null.'],
      ['MISSING_VALUE', 'The entry has no "value".'],
    ]);
  });

  const ENTRY = '{ device: "serial-1", field: "temperature", value: 1 }';
  test.each([
    ['a Set', `function Decoder() { return new Set([${ENTRY}]) }`],
    ['a Map', `function Decoder() { return new Map([["a", ${ENTRY}]]) }`],
    ['a Generator', `function* Decoder() { yield ${ENTRY} }`],
    ['an AsyncGenerator', `async function* Decoder() { yield ${ENTRY} }`],
    ['an Array Iterator', `function Decoder() { return [${ENTRY}].values() }`],
  ])('a decoder that returns %s is told to return an array', async (what, source) => {
    const product = await createProduct(server);
    await saveDecoder(server, product.id, source);
    await callWebhook(server, product, { body: '' });
    const [call] = await callsOf(server, product.id);
    expect(call).toMatchObject({
      status: 'DECODER_FAILED',
      run: {
        error: { kind: 'BAD_OUTPUT', message: `The decoder returned ${what}; it must return an array of entries.` },
      },
    });
  });

  test('an object of a class counts as one entry', async () => {
    const product = await createProduct(server);
    const source = `class Entry { constructor() { Object.assign(this, ${ENTRY}) } *[Symbol.iterator]() {} }`;
    await saveDecoder(server, product.id, `${source} function Decoder() { return new Entry() }`);
    expect((await callWebhook(server, product, { body: '' })).body).toMatchObject({ stored: 1 });
  });
});
