import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DecoderEngine } from '../../src/domain/decoders/decoder-engine.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { openGraphql } from '../support/open-graphql.ts';
import { longestPieceMs } from '../support/processor-time.ts';
import { DATABASES } from '../support/server.ts';

const MOST_MS = 50;
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

describe.each(DATABASES)('examples of decoders that are long, on %s', (name) => {
  let domain: OpenDomain;
  let graphql: ReturnType<typeof openGraphql>;
  let id: string;
  const engine = new SayingEngine();
  const save = () => domain.decoders.saveDecoder(domain.access, id, 'function Decoder() {}');
  const examplesOf = (product: string, of: string) =>
    [`query ($id: ID!) { product(id: $id) { decoderExamples { ${of} } } }`, { id: product }] as const;

  beforeAll(async () => {
    domain = await openDomain(name, engine as unknown as DecoderEngine);
    graphql = openGraphql(domain);
    const { access, products, examples } = domain;
    ({ id } = await products.create(access, { name: 'examples' }));
    for (let at = 0; at < EXAMPLES; at += 1)
      await examples.addDecoderExample(access, id, `example ${at}`, { body: BODY }, EXPECTED);
  }, 120_000);

  afterAll(() => domain.close());

  test('are listed without what is long', async () => {
    const query = examplesOf(id, 'id name createdAt');
    const { product } = await graphql.ask(...query);
    expect(product.decoderExamples.map((example: { name: string }) => example.name)).toEqual(
      Array.from({ length: EXAMPLES }, (_, at) => `example ${at}`),
    );
    expect(await longestPieceMs(() => graphql.answer(...query))).toBeLessThan(MOST_MS);
    expect(await domain.examples.decoderExamples(domain.access, id)).toMatchObject(
      Array.from({ length: EXAMPLES }, () => ({ request: undefined, expected: undefined })),
    );
  });

  test('run one by one on a save', async () => {
    engine.runs = 0;
    expect(await longestPieceMs(save)).toBeLessThan(MOST_MS);
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
    expect(await longestPieceMs(() => graphql.answer(...query))).toBeLessThan(MOST_MS);
  });

  test('so many are copied in turns with others', async () => {
    const { access, products, examples } = domain;
    const cloning = (): Promise<unknown> => products.clone(access, id, 'all');
    // On SQLite the commit of 50 MB is one piece, of 70 ms; all together were 250.
    expect(await longestPieceMs(cloning)).toBeLessThan(3 * MOST_MS);
    const { items } = await products.list(access, { limit: 10, search: 'all' });
    expect(await examples.decoderExamples(access, items[0]!.id)).toHaveLength(EXAMPLES);
  });

  test('more of them than an answer may have are refused', async () => {
    const all = () =>
      expect(graphql.answer(...examplesOf(id, 'request'))).rejects.toMatchObject({ code: 'QUERY_TOO_COMPLEX' });
    expect(await longestPieceMs(all)).toBeLessThan(MOST_MS);
  });
});
