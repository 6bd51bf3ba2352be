import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runText } from '../../src/domain/calls/run-text.ts';
import type { EntryOutcome } from '../../src/domain/decoders/decoder-run.ts';
import { callRow } from '../support/call-row.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { openGraphql } from '../support/open-graphql.ts';
import { expectPieces, piecesOf } from '../support/pieces.ts';
import { EITHER_DATABASE } from '../support/server.ts';

const CALLS = 200;
/** Younger than what the log keeps, which a sweep would take away. */
const FROM = Date.now() - 3_600_000;

/** Of 65 KB; each list takes longer to make than a number. */
const OUTPUT = [{ a: Array.from({ length: 21_500 }, () => []) }];
const QUERY = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`k${at}`, ['']]));

const entry = (index: number): EntryOutcome => ({
  index,
  device: 'd',
  field: 'F',
  value: index,
  timestamp: null,
  code: 'UNKNOWN_DEVICE',
  message: 'nobody',
  matchedDeviceId: null,
  matchedFieldKey: null,
});

describe.each(EITHER_DATABASE)('a log of calls whose runs are long, %s', (name) => {
  let domain: OpenDomain;
  let answer: (of: string, first?: number) => Promise<string>;
  const ask = async (of: string, first?: number) =>
    JSON.parse(await answer(of, first)).data.product.calls.edges.map(({ node }: any) => node);

  beforeAll(async () => {
    domain = await openDomain(name);
    const { id } = await domain.products.create(domain.access, { name: 'long' });
    const { key } = (await domain.ingestCache.product(id))!;
    for (let at = 0; at < CALLS; at += 1) await domain.store.append({ batches: [], call: call(key, FROM + at) });
    const graphql = openGraphql(domain);
    const query = (of: string) =>
      `query ($id: ID!, $first: Int) { product(id: $id) { calls(first: $first) { edges { node { ${of} } } } } }`;
    answer = (of, first = CALLS) => graphql.answer(query(of), { id, first });
  });

  afterAll(() => domain.close());

  test.each([
    ['id run { ok }', 2],
    ['run { output }', 8],
    ['run { durationMs truncated error { kind } console }', 2],
    ['query headers', 3],
  ])('leaves others their turns where a page is asked for { %s }', async (of, pieces) => {
    const calls = await ask(of);
    expect(calls).toHaveLength(CALLS);
    await expectPieces(pieces, () => piecesOf(() => answer(of)));
  });

  test('leaves others their turns where entries are shown', async () => {
    const of = 'run { entries { index device field value code message matchedDevice { id } } }';
    const calls = await ask(of, 10);
    expect(calls[0].run.entries).toHaveLength(300);
    await expectPieces(2, () => piecesOf(() => answer(of, 20)));
  });

  test('shows all of a run as it was', async () => {
    const [shown] = await ask(
      'query headers run { ok output console error { message } durationMs truncated entries { index code } }',
      1,
    );
    expect(shown).toEqual({
      query: QUERY,
      headers: { Accept: '*/*' },
      run: {
        ok: true,
        output: OUTPUT,
        console: ['a', 'b'],
        error: null,
        durationMs: 1.5,
        truncated: false,
        entries: Array.from({ length: 300 }, (_, index) => ({ index, code: 'UNKNOWN_DEVICE' })),
      },
    });
  });

  function call(productKey: number, receivedAt: number) {
    const output = JSON.stringify(OUTPUT);
    const entries = Array.from({ length: 300 }, (_, index) => entry(index));
    const run = runText({ output, console: ['a', 'b'], error: null, durationMs: 1.5, entries, answer: null });
    const ran = { status: 'PARTLY_STORED', httpStatus: 200, decoderVersion: 1, run } as const;
    const sent = { query: JSON.stringify(QUERY), headers: '{"Accept":"*/*"}', body: 'x' };
    return callRow(productKey, receivedAt, { ...sent, ...ran });
  }
});
