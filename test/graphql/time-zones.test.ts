import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';

describe.each(EITHER_DATABASE)('the zone of a product on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database });
  });
  afterAll(() => server?.stop());

  const zoneOf = async (id: string): Promise<string | null> =>
    (await server.gql('query ($id: ID!) { product(id: $id) { timeZone } }', { id })).product.timeZone;
  const update = (id: string, input: Record<string, unknown>) =>
    server.query(
      'mutation ($id: ID!, $input: UpdateProductInput!) { updateProduct(id: $id, input: $input) { timeZone } }',
      {
        id,
        input,
      },
    );

  test('is set, kept as it was written, copied and taken away', async () => {
    const { id } = await createProduct(server, { input: { timeZone: 'Asia/Kolkata' } });
    expect(await zoneOf(id)).toBe('Asia/Kolkata');
    await update(id, { name: 'another' });
    expect(await zoneOf(id)).toBe('Asia/Kolkata');
    const { cloneProduct } = await server.gql(
      'mutation ($id: ID!) { cloneProduct(id: $id, name: "copy") { timeZone } }',
      { id },
    );
    expect(cloneProduct).toEqual({ timeZone: 'Asia/Kolkata' });
    await update(id, { timeZone: null });
    expect(await zoneOf(id)).toBeNull();
  });

  test.each(['Mars/Olympus', '', 'CEST?', 'x'.repeat(100)])('%j is none', async (timeZone) => {
    const { id } = await createProduct(server);
    expect(await zoneOf(id)).toBeNull();
    const { errors } = await update(id, { timeZone });
    expect(errors).toMatchObject([
      {
        message: expect.stringMatching(/"input\.timeZone" must be an IANA zone/),
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
    expect(await zoneOf(id)).toBeNull();
  });
});
