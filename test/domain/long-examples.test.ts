import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { DecoderEngine } from '../../src/domain/decoders/decoder-engine.ts';
import { uuidV7 } from '../../src/domain/text/uuid.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { openGraphql } from '../support/open-graphql.ts';
import { expectPieces, piecesOf } from '../support/pieces.ts';
import { EITHER_DATABASE } from '../support/server.ts';

const EXAMPLES = 100;
const BODY = 'x'.repeat(262_000);
const EXPECTED = Array.from({ length: 1_000 }, (_, at) => ({
  device: 'd',
  field: 'F',
  value: `${at} ${'v'.repeat(200)}`,
}));

/** Of a decoder that returns what its example expects, or what else is said. */
class SayingEngine implements Pick<DecoderEngine, 'check' | 'run'> {
  says: unknown = EXPECTED;
  runs = 0;

  async check() {
    return null;
  }

  async run() {
    this.runs += 1;
    return { output: JSON.stringify(this.says), value: this.says, console: [], error: null, durationMs: 1 };
  }
}

describe.each(EITHER_DATABASE)('examples of decoders that are long, on %s', (name) => {
  let domain: OpenDomain;
  let graphql: ReturnType<typeof openGraphql>;
  let id: string;
  /** Of a product that has as many bytes of them as it may. */
  let full: string;
  const engine = new SayingEngine();
  const save = () => domain.decoders.saveDecoder(domain.access, id, 'function Decoder() {}');
  const examplesOf = (product: string, of: string) =>
    [`query ($id: ID!) { product(id: $id) { decoderExamples { ${of} } } }`, { id: product }] as const;

  beforeAll(async () => {
    domain = await openDomain(name, engine as unknown as DecoderEngine);
    graphql = openGraphql(domain);
    const { access, products, examples } = domain;
    ({ id } = await products.create(access, { name: 'examples' }));
    const first = await examples.addDecoderExample(access, id, 'example 0', { body: BODY }, EXPECTED);
    // As many as were allowed once.
    await domain.database.write(async (em) => {
      for (let at = 1; at < EXAMPLES; at += 1)
        await em.execute(
          'insert into decoder_example (id, product_key, name, request, expected, created_at) ' +
            'select ?, product_key, ?, request, expected, created_at from decoder_example where id = ?',
          [uuidV7(), `example ${at}`, first.id],
        );
    });
  });

  afterAll(() => domain.close());

  test('are listed without what is long', async () => {
    const query = examplesOf(id, 'id name createdAt');
    const { product } = await graphql.ask(...query);
    expect(product.decoderExamples.map((example: { name: string }) => example.name)).toEqual(
      Array.from({ length: EXAMPLES }, (_, at) => `example ${at}`),
    );
    expect(await domain.examples.decoderExamples(domain.access, id)).toMatchObject(
      Array.from({ length: EXAMPLES }, () => ({ request: undefined, expected: undefined })),
    );
  });

  test('run one by one on a save', async () => {
    engine.runs = 0;
    await expectPieces(10, () => piecesOf(save));
    expect(engine.runs).toBeGreaterThanOrEqual(EXAMPLES);
    engine.says = [];
    await expect(save()).rejects.toThrow('The example "example 0" fails: entry 0 is missing');
    engine.says = EXPECTED;
  });

  test('are copied with a clone, and shown whole', async () => {
    const { access, products, examples } = domain;
    const { id: few } = await products.create(access, { name: 'few' });
    for (let at = 0; at < 3; at += 1)
      await examples.addDecoderExample(access, few, `example ${at}`, { body: BODY, method: 'POST' }, EXPECTED);
    const copy = await products.clone(access, few, 'copy');
    const query = examplesOf(copy.id, 'name request expected');
    const { product } = await graphql.ask(...query);
    expect(product.decoderExamples).toEqual(
      [0, 1, 2].map((at) => ({ name: `example ${at}`, request: { body: BODY, method: 'POST' }, expected: EXPECTED })),
    );
  });

  test('take 8 MB together in a product, and what would be more is told so', async () => {
    const { access, products, examples } = domain;
    full = (await products.create(access, { name: 'full' })).id;
    const add = (at: number, body: string): Promise<unknown> =>
      examples.addDecoderExample(access, full, `example ${at}`, { body }, EXPECTED);
    for (let at = 0; at < 16; at += 1) await add(at, BODY);
    await expect(add(16, BODY)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      message: expect.stringMatching(/at most 8388608 bytes .* remove one first/),
    });
    await expect(examples.addDecoderExample(access, id, 'one more', {}, [])).rejects.toThrow('remove one first');
    // Small ones are counted as what they are, also where the database compresses them.
    const { id: small } = await products.create(access, { name: 'small' });
    for (let at = 0; at < EXAMPLES; at += 1)
      await examples.addDecoderExample(access, small, `example ${at}`, { body: 'x'.repeat(10_000) }, []);
    await expect(examples.addDecoderExample(access, small, 'last', {}, [])).rejects.toThrow('at most 100 examples');
  });

  test('more than that is not copied', async () => {
    const cloning = domain.products.clone(domain.access, id, 'all');
    await expect(cloning).rejects.toMatchObject({ code: 'BAD_USER_INPUT', message: expect.stringContaining('remove') });
  });

  test('are copied in turns with others, on the account of who clones them', async () => {
    const { access, products, examples, shares } = domain;
    const spent = vi.spyOn(shares, 'spend');
    const clone = (): Promise<unknown> =>
      graphql.ask('mutation ($id: ID!) { cloneProduct(id: $id, name: "whole") { id } }', { id: full });
    // On SQLite the commit is one piece.
    if (name === 'sqlite') await clone();
    else await expectPieces(2, () => piecesOf(clone));
    // What is not counted by its bytes is 11 ms at most.
    expect(spent.mock.calls.reduce((sum, [, ms]) => sum + ms, 0)).toBeGreaterThan(14);
    spent.mockRestore();
    const { items } = await products.list(access, { limit: 10, search: 'whole' });
    expect(await examples.decoderExamples(access, items[0]!.id)).toHaveLength(16);
  });

  test('more of them than an answer may have are refused', async () => {
    const all = () =>
      expect(graphql.answer(...examplesOf(id, 'request'))).rejects.toMatchObject({ code: 'QUERY_TOO_COMPLEX' });
    await expectPieces(5, () => piecesOf(all));
  });
});
