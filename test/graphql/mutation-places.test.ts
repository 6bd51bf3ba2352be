import { expect, test, vi } from 'vitest';
import { LoggedRun } from '../../src/domain/calls/logged-run.ts';
import { runText } from '../../src/domain/calls/run-text.ts';
import { FairScheduler } from '../../src/scheduling/fair-scheduler.ts';
import { AppError } from '../../src/errors.ts';
import { GraphqlContext } from '../../src/graphql/context/graphql-context.ts';
import { WorkBudget } from '../../src/graphql/context/work-budget.ts';
import { MutationPlaces } from '../../src/graphql/operation/mutation-places.ts';
import { Operations } from '../../src/graphql/operation/operations.ts';
import { DecoderRunResolver } from '../../src/graphql/resolvers/objects/decoder-run-resolver.ts';
import type { ResolverDeps } from '../../src/graphql/resolvers/resolvers.ts';
import { createSchema } from '../../src/graphql/schema.ts';

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
  let ms = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => ms);
  const places = new MutationPlaces();
  const ends: (() => void)[] = [];
  const party = { tokenId: 'token', tenant: 'tenant' };
  const begin = (): Promise<void> => places.use(party, () => new Promise((end) => ends.push(end)));
  const first = Array.from({ length: 16 }, begin);
  const waiting = [begin(), begin()].map((one) => one.catch((error: Error) => error.message));
  await turnsOfTheLoop(5);
  ms += 50;
  const last = [begin()];
  places.refuse(40, new Error('away'));
  last.push(begin());
  // However long they wait from then on.
  ms += 50;
  await turnsOfTheLoop(5);
  for (const end of ends) end();
  expect(await Promise.all(waiting)).toEqual(['away', 'away']);
  await turnsOfTheLoop(5);
  expect(ends).toHaveLength(18);
  for (const end of ends.slice(16)) end();
  await Promise.all([...first, ...last]);
  clock.mockRestore();
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
      budget: new WorkBudget(),
      caller: { tokenId: 'runs', tenant: 'runs' },
      loaders: {},
      answersWith: () => {},
      goOn: async () => {},
      untilAnswered: () => new Promise(() => {}),
      nextPiece: () => new Promise(() => {}),
    }) as unknown as GraphqlContext;
  const mutation = contextOf(true);
  for (let at = 0; at < 3; at += 1) void resolver.entries(run(100), mutation);
  await turnsOfTheLoop(20);
  expect(await resolver.durationMs(run(1), contextOf(false))).toBe(3);
});

interface Held {
  tokenId: string;
  end: () => void;
  fail: () => void;
}

/** Records whose many entries are all refused, while that of one entry takes as long as the test says. */
function openOperations() {
  const held: Held[] = [];
  const record = async ({ tokenId }: { tokenId: string }, entries: unknown[]) => {
    if (entries.length > 1)
      return { stored: 0, rejected: entries.map((_, index) => ({ index, code: 'UNKNOWN_FIELD', message: '' })) };
    await new Promise<void>((end, fail) =>
      held.push({ tokenId, end, fail: () => fail(new AppError('CONFLICT', 'x')) }),
    );
    return { stored: 1, rejected: [] };
  };
  const device = async (tokenId: string) => ({ id: tokenId, tokenId, product: { fields: new Map() } });
  const signIns: string[] = [];
  const signIn = (email: string): Promise<never> => {
    signIns.push(email);
    return new Promise(() => {});
  };
  const deps = { recorder: { record }, ingestCache: { device }, users: { signIn }, now: () => 0 };
  const operations = new Operations(createSchema(deps as unknown as ResolverDeps), 'none', new FairScheduler());
  const run = async (context: GraphqlContext, query: string, variables = {}) => {
    const { result } = await operations.execute(await operations.admit({ query, variables }, context));
    return result.errors?.[0]?.message ?? result.data;
  };
  const contextOf = (tokenId: string, tenant = 'tenant'): GraphqlContext => {
    const allowed = { requireOperation: () => {}, requireDevice: () => {}, requireField: () => {} };
    return new GraphqlContext({ tokenId, tenant, ...allowed } as never, '', {} as never, {} as never);
  };
  return { held, signIns, run, contextOf };
}

/** Answers with so many items, and then with what takes long. */
function recordsOf(tokenId: string, items: number): [string, Record<string, unknown>] {
  const query = `mutation ($d: ID!, $e: [EntryInput!]!, $f: [EntryInput!]!) {
    a: recordMeasurements(deviceId: $d, entries: $e) { rejected { index } }
    b: recordMeasurements(deviceId: $d, entries: $e) { stored }
    c: recordMeasurements(deviceId: $d, entries: $f) { stored }
    d: recordMeasurements(deviceId: $d, entries: $e) { x: rejected { code } rejected { index } } }`;
  const entry = { field: 'f', value: 1 };
  return [query, { d: tokenId, e: Array.from({ length: items }, () => entry), f: [entry] }];
}

test('one operation of a token answers with long lists, four of a tenant, each until it is answered, failed or is left', async () => {
  const { held, run, contextOf } = openOperations();
  const mine = Array.from({ length: 6 }, () => contextOf('one', 'a'));
  const answers = mine.map((context) => run(context, ...recordsOf('one', 60)));
  await turnsOfTheLoop(100);
  expect(held).toHaveLength(1);
  // Its later lists do not wait for those that wait for it.
  held.shift()!.end();
  expect(await answers[0]).toMatchObject({ a: { rejected: { length: 60 } }, d: { x: { length: 60 } } });
  await expect.poll(() => held.length).toBe(1);
  held.shift()!.fail();
  expect(await answers[1]).toBe('x');
  await expect.poll(() => held.length).toBe(1);
  for (const context of mine.slice(3, 5)) context.budget.end(new AppError('UNAVAILABLE', 'gone'));
  held.shift()!.end();
  expect(await Promise.all(answers.slice(3, 5))).toEqual(['gone', 'gone']);
  await expect.poll(() => held.length).toBe(1);
  // Who answers with little waits for none of them.
  const short = run(contextOf('one', 'a'), ...recordsOf('one', 2));
  await expect.poll(() => held.length).toBe(2);
  for (const token of ['two', 'three', 'four', 'five']) void run(contextOf(token, 'a'), ...recordsOf(token, 60));
  const another = run(contextOf('other', 'b'), ...recordsOf('other', 60));
  await expect.poll(() => held.length).toBe(6);
  await turnsOfTheLoop(100);
  expect(held.map(({ tokenId }) => tokenId).toSorted()).toEqual(['four', 'one', 'one', 'other', 'three', 'two']);
  for (const { end } of held.splice(0)) end();
  await Promise.all([short, another, answers[5]]);
  await expect.poll(() => held.map(({ tokenId }) => tokenId)).toEqual(['five']);
});

test('short lists that bring as much wait for each other, too', async () => {
  const { held, run, contextOf } = openOperations();
  const fields = Array.from({ length: 190 }, (_, at) => `a${at}: matchedField { id }`).join(' ');
  const query = `mutation ($d: ID!, $e: [EntryInput!]!, $f: [EntryInput!]!) {
    a: recordMeasurements(deviceId: $d, entries: $e) { rejected { ${fields} } }
    b: recordMeasurements(deviceId: $d, entries: $e) { rejected { index } }
    c: recordMeasurements(deviceId: $d, entries: $f) { stored } }`;
  const e = Array.from({ length: 50 }, () => ({ field: 'f', value: 1 }));
  for (let at = 0; at < 3; at += 1) void run(contextOf('short'), query, { d: 'short', e, f: e.slice(0, 1) });
  await expect.poll(() => held.length).toBe(1);
  await turnsOfTheLoop(100);
  expect(held).toHaveLength(1);
});

test('strangers take no place: however many sign in, all are heard', async () => {
  const { signIns, run } = openOperations();
  const signIn = 'mutation { signIn(email: "a@b.c", password: "x") { secret } }';
  for (let at = 0; at < 90; at += 1)
    void run(new GraphqlContext('missing', 'address', {} as never, {} as never), signIn);
  await expect.poll(() => signIns.length).toBe(90);
});
