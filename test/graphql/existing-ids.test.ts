import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestProduct, type TestServer } from '../support/server.ts';

/** Each is made once, and then wanted a second time; `of`: where the id of the first is in the answer. */
const WANTED: { what: string; first: string; again?: string; of: string }[] = [
  {
    what: 'a key of another product',
    first: 'mutation ($p: ID!) { updateProduct(id: $p, input: { key: "taken" }) { id } }',
    again: 'mutation ($q: ID!) { updateProduct(id: $q, input: { key: "taken" }) { id } }',
    of: 'updateProduct',
  },
  {
    what: 'a field',
    first:
      'mutation ($p: ID!) { addField(productId: $p, input: { identifier: "a", type: FLOAT, role: PRIMARY }) { id } }',
    of: 'addField',
  },
  {
    what: 'the role of another field',
    first:
      'mutation ($p: ID!) { addField(productId: $p, input: { identifier: "b", type: FLOAT, role: BATTERY }) { id } }',
    again:
      'mutation ($p: ID!) { addField(productId: $p, input: { identifier: "c", type: FLOAT, role: BATTERY }) { id } }',
    of: 'addField',
  },
  {
    what: 'a configuration field',
    first:
      'mutation ($p: ID!) { addConfigurationField(productId: $p, input: { identifier: "a", type: NUMBER }) { id } }',
    of: 'addConfigurationField',
  },
  {
    what: 'an example',
    first:
      'mutation ($p: ID!) { addDecoderExample(productId: $p, name: "one", request: { body: "" }, expected: []) { id } }',
    of: 'addDecoderExample',
  },
  {
    what: 'an address',
    first: 'mutation { createUser(input: { email: "Ada@example.org" }) { id } }',
    again: 'mutation { createUser(input: { email: "ada@Example.org" }) { id } }',
    of: 'createUser',
  },
  {
    what: 'a serial number',
    first: 'mutation ($d: ID!) { updateDevice(id: $d, input: { serialNumber: "taken" }) { id } }',
    again:
      'mutation ($p: ID!) { createDevices(productId: $p, devices: [{ name: "x", serialNumber: "taken" }]) { id } }',
    of: 'updateDevice',
  },
  {
    what: 'the serial number of another device',
    first: 'mutation ($d: ID!) { updateDevice(id: $d, input: { serialNumber: "mine" }) { id } }',
    again: 'mutation ($e: ID!) { updateDevice(id: $e, input: { serialNumber: "mine" }) { id } }',
    of: 'updateDevice',
  },
];

describe.each(EITHER_DATABASE)('CONFLICT names what is there, on %s', (database) => {
  let server: TestServer;
  let products: TestProduct[];
  beforeAll(async () => {
    server = await startServer({ database });
    products = [await createProduct(server, { serialNumbers: ['d', 'e'] }), await createProduct(server)];
  });
  afterAll(() => server?.stop());

  test.each(WANTED)('$what', async ({ first, again = first, of }) => {
    const [one, two] = products as [TestProduct, TestProduct];
    const variables = { p: one.id, q: two.id, d: one.deviceIds[0], e: one.deviceIds[1] };
    const { id } = (await server.gql(first, variables))[of];
    const answer = await server.query(again, variables);
    expect(answer.data).toBeNull();
    expect(answer.errors![0]!.extensions).toEqual({ code: 'CONFLICT', existingId: id });
  });
});
