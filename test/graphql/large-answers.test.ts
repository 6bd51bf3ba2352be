import { expect, test, vi } from 'vitest';
import { countTurns } from '../support/loop-turns.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { ShownJson } from '../../src/graphql/context/shown-json.ts';
import type { AppError } from '../../src/errors.ts';
import { StoredJson } from '../../src/graphql/context/stored-json.ts';
import { jsonPieces, LargeAnswers } from '../../src/graphql/operation/large-answers.ts';

const page = (rows: number, body: string) => ({
  data: { product: { calls: { edges: Array.from({ length: rows }, (_, at) => ({ node: { id: `${at}`, body } })) } } },
});

const LEAVES = [null, true, 0, -1.5e300, NaN, '', 'a "b" \\ \n', 'ü 🙂', '\uD83D', '\u2028', undefined, new Date(0)];

function grown(random: () => number, depth: number): unknown {
  const kind = random();
  if (depth === 0 || kind < 0.4) return LEAVES[Math.floor(random() * LEAVES.length)];
  const items = Array.from({ length: Math.floor(random() * 9) }, () => grown(random, depth - 1));
  if (kind < 0.7) return items;
  return Object.fromEntries(items.map((item, at) => [random() < 0.2 ? `k "${at}` : `k${at}`, item]));
}

test.each([1, 10, 100, 10_000])('in pieces of %i bytes it is the same text as at once', (most) => {
  const random = seededRandom(most);
  for (let time = 0; time < 500; time += 1) {
    const value = { data: grown(random, 5) };
    expect([...jsonPieces(value, most)].join('')).toBe(JSON.stringify(value));
  }
});

test('no piece is much longer than that, however the answer is made up', () => {
  const numbers = Array.from({ length: 300_000 }, (_, at) => at);
  const large = { name: 'large', values: numbers };
  for (const value of [numbers, { data: { large } }, [1, large, 2], [[numbers], 'x'], page(200, 'x'.repeat(50_000))]) {
    const lengths = [...jsonPieces(value, 10_000)].map(({ length }) => length);
    expect(lengths.length).toBeGreaterThan(30);
    expect(Math.max(...lengths)).toBeLessThan(80_000);
  }
});

test('what a database has as JSON goes into it as it is, and where it is short as what it says', () => {
  const [long, short] = [new StoredJson(`[${'[], '.repeat(5_000)}[]]`), new StoredJson('{"a": [1, "ü"]}')];
  const answer = { data: [{ long }, { short }, { none: null }] };
  const text = [...jsonPieces(answer, 10_000)].join('');
  expect(text).toBe(`{"data":[{"long":${long.text}},{"short":{"a":[1,"ü"]}},{"none":null}]}`);
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(answer)));
});

test('what is shown otherwise than it is stored goes into it as it is shown, however large the answer is', () => {
  const mask = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll('secret', '…'));
  const long = new ShownJson(JSON.stringify(Array.from({ length: 2_000 }, () => 'secret')), mask);
  const answer = { data: { calls: [{ headers: new ShownJson('["secret"]', mask), long, body: 'x'.repeat(20_000) }] } };
  const text = [...jsonPieces(answer, 10_000)].join('');
  expect(text).not.toContain('secret');
  expect(text).toBe(JSON.stringify(answer));
});

test('nothing more is written when nobody waits for it any more', async () => {
  let checks = 0;
  const check = (): void => {
    if ((checks += 1) === 3) throw new Error('gone');
  };
  await expect(new LargeAnswers().write(page(60, 'x'.repeat(50_000)), check)).rejects.toThrow('gone');
  expect(checks).toBe(3);
});

test('what is much longer as JSON than it was counted is refused, and not written to its end', async () => {
  const answer = page(300, '\u0001'.repeat(50_000));
  let pieces = 0;
  const check = (): void => void (pieces += 1);
  const outcome = new LargeAnswers().write(answer, check).then(
    ({ length }) => length,
    ({ code }: AppError) => code,
  );
  expect(await outcome).toBe('QUERY_TOO_COMPLEX');
  expect(pieces).toBeLessThan(130);
});

test('others have their turns while several are written', async () => {
  const [answers, answer] = [new LargeAnswers(), page(60, 'ü'.repeat(50_000))];
  const loop = countTurns();
  // However fast the machine is, a piece takes as long as one of a slow one.
  let ms = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (ms += 2));
  try {
    const texts = await Promise.all([1, 2].map(() => answers.write(answer, () => {})));
    for (const text of texts) expect(text.equals(Buffer.from(`${JSON.stringify(answer)}\n`))).toBe(true);
    expect(loop.turns).toBeGreaterThan(5);
  } finally {
    loop.stop();
    clock.mockRestore();
  }
});
