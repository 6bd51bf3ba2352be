import { expect, test } from 'vitest';
import { LoggedRun } from '../../src/domain/calls/logged-run.ts';
import { runText } from '../../src/domain/calls/run-text.ts';

import type { GraphqlContext } from '../../src/graphql/context/graphql-context.ts';
import { MutationPlaces } from '../../src/graphql/operation/mutation-places.ts';
import { DecoderRunResolver } from '../../src/graphql/resolvers/objects/decoder-run-resolver.ts';

const turnsOfTheLoop = async (count: number): Promise<void> => {
  for (let at = 0; at < count; at += 1) await new Promise((resolve) => setImmediate(resolve));
};

test('of a token and of a tenant so many mutations have begun and no answer, and so many wait', async () => {
  const places = new MutationPlaces();
  const ends: (() => void)[] = [];
  const begin = (tokenId: string): Promise<void> =>
    places.use({ tokenId, tenant: 'tenant' }, () => new Promise((end) => ends.push(end)));
  const of = (tokenId: string, count: number) => Array.from({ length: count }, () => begin(tokenId));
  const all = of('one', 216);
  await turnsOfTheLoop(5);
  expect(ends).toHaveLength(16);
  await expect(begin('one')).rejects.toMatchObject({ code: 'OVERLOADED' });
  for (const token of ['two', 'three', 'four', 'five']) all.push(...of(token, 20));
  await turnsOfTheLoop(5);
  expect(ends).toHaveLength(64);
  // Who has few of them waits for no other token.
  all.push(begin('few'));
  await turnsOfTheLoop(5);
  expect(ends).toHaveLength(65);
  for (let done = 0; done < all.length; done += 1) {
    ends[done]!();
    await turnsOfTheLoop(3);
  }
  await Promise.all(all);
});

test('of those that wait for a place all are refused together, unless they came later or have not waited long', async () => {
  const places = new MutationPlaces();
  const ends: (() => void)[] = [];
  const party = { tokenId: 'token', tenant: 'tenant' };
  const begin = (): Promise<void> => places.use(party, () => new Promise((end) => ends.push(end)));
  const first = Array.from({ length: 16 }, begin);
  const waiting = [begin(), begin()].map((one) => one.catch((error: Error) => error.message));
  await new Promise((resolve) => setTimeout(resolve, 30));
  places.refuse(20, new Error('away'));
  const late = begin();
  await turnsOfTheLoop(5);
  for (const end of ends) end();
  expect(await Promise.all(waiting)).toEqual(['away', 'away']);
  await turnsOfTheLoop(5);
  expect(ends).toHaveLength(17);
  ends[16]!();
  await Promise.all([...first, late]);
});

test('a long list that waits for its turn does not keep others from reading logged runs', async () => {
  const resolver = new DecoderRunResolver();
  const run = (count: number): LoggedRun => {
    const entries = Array.from({ length: count }, () => ({ field: 'x', value: 1 }));
    const ran = { ok: true, output: null, console: [], error: null, durationMs: 3, entries, truncated: false };
    return new LoggedRun(runText(ran as never), (value) => value);
  };
  const contextOf = (isMutation: boolean): GraphqlContext =>
    ({
      isMutation,
      budget: { check: () => {} },
      caller: { tokenId: 'one', tenant: 'one' },
      loaders: {},
      answersWith: () => {},
      nextPiece: () => new Promise(() => {}),
    }) as unknown as GraphqlContext;
  const mutation = contextOf(true);
  for (let at = 0; at < 3; at += 1) void resolver.entries(run(100), mutation);
  await turnsOfTheLoop(20);
  expect(await resolver.durationMs(run(1), contextOf(false))).toBe(3);
});
