import { afterEach, expect, test, vi } from 'vitest';
import { GraphqlContext } from '../../src/graphql/context/graphql-context.ts';
import { listInPlace, listInSlices } from '../../src/graphql/context/list-in-slices.ts';
import { AuditResolver } from '../../src/graphql/resolvers/audit-resolver.ts';
import { createLoaders, type LoaderSources } from '../../src/graphql/context/loaders.ts';
import { WorkBudget } from '../../src/graphql/context/work-budget.ts';
import { countTurns } from '../support/loop-turns.ts';

afterEach(() => void vi.restoreAllMocks());

const LENGTH = 400;

async function turnsOfTheLoop(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await new Promise((resolve) => setImmediate(resolve));
}

test('each slice of what a mutation answers with is paid for at once, and the next comes in its caller’s turn', async () => {
  let ms = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => (ms += 1));
  const paid: number[] = [];
  const turns: (() => void)[] = [];
  const context = {
    isMutation: true,
    caller: { tokenId: 't', tenant: 't' },
    loaders: {},
    answersWith: () => {},
    goOn: async () => {},
    untilAnswered: () => new Promise(() => {}),
    nextPiece: (tookMs: number): Promise<void> => {
      paid.push(tookMs);
      return new Promise((resolve) => turns.push(resolve));
    },
  };
  const list = listInSlices(
    Array.from({ length: LENGTH }, (_, at) => at),
    context as unknown as GraphqlContext,
  ) as unknown as Promise<Promise<number>[]>;
  let come = 0;
  for (const item of await list) void item.then(() => (come += 1));
  await turnsOfTheLoop(20);
  expect(paid).toHaveLength(1);
  expect(paid[0]).toBeGreaterThan(0);
  expect(come).toBeLessThan(LENGTH / 4);
  for (let at = 0; at < LENGTH / 8; at += 1) {
    turns.shift()?.();
    await turnsOfTheLoop(5);
  }
  expect(come).toBe(LENGTH);
});

test.each([5, LENGTH])(
  'a list of %i items that waited for its place does not come once its token is gone',
  async (length) => {
    const context = {
      isMutation: true,
      values: 1_000_000,
      caller: { tokenId: `gone ${length}`, tenant: 't' },
      loaders: {},
      answersWith: () => {},
      goOn: () => Promise.reject(new Error('gone')),
      untilAnswered: async () => {},
    };
    const list = Array.from({ length }, (_, at) => at);
    const come = listInSlices(list, context as unknown as GraphqlContext) as unknown as Promise<Promise<number>[]>;
    await expect(come.then((items) => Promise.all(items))).rejects.toThrow('gone');
  },
);

test('a list of a query is sliced, too, where it is longer than a page', async () => {
  const query = { isMutation: false, lastList: Promise.resolve(), answersWith: () => {} };
  const context = { ...query, caller: { tokenId: 't', tenant: 't' }, loaders: {} };
  const sliced = (length: number): unknown => {
    const list = Array.from({ length }, (_, at) => at);
    return listInSlices(list, context as unknown as GraphqlContext);
  };
  expect(sliced(500)).toHaveLength(500);
  const list = await (sliced(2_000) as Promise<Promise<number>[]>);
  let come = 0;
  for (const item of list) void item.then(() => (come += 1));
  await turnsOfTheLoop(2);
  expect(come).toBeGreaterThan(0);
  expect(come).toBeLessThan(1_000);
  expect(await Promise.all(list)).toEqual(Array.from({ length: 2_000 }, (_, at) => at));
});

test('where what is asked of its items fails, a list is over for who waits for all of them', async () => {
  const gone = Promise.reject(new Error('The client is gone.'));
  gone.catch(() => {});
  const caller = { tokenId: 'gone', tenant: 't' };
  const query = { isMutation: false, lastList: Promise.resolve(), answersWith: () => {} };
  const context = { ...query, caller, loaders: { device: { answer: gone } } };
  const list = listInSlices(Array.from({ length: 2_000 }, Object), context as unknown as GraphqlContext);
  const ends = await Promise.allSettled(await (list as unknown as Promise<Promise<unknown>[]>));
  const failed = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []));
  expect(failed.length).toBeGreaterThan(1_000);
  // Of each that is another one graphql-js would make one of its own.
  expect(new Set(failed).size).toBe(2);
});

test('of several long lists of a query one comes after the other', async () => {
  const answered = Promise.withResolvers<number>();
  const loaders = { device: { answer: answered.promise as Promise<number> | null } };
  const query = { isMutation: false, lastList: Promise.resolve(), answersWith: () => {}, loaders };
  const lists = [0, 1].map(
    () => listInSlices(Array.from({ length: 2_000 }, Object), query as unknown as GraphqlContext) as unknown,
  ) as [Promise<Promise<unknown>[]>, Promise<Promise<unknown>[]>];
  let hasSecond = false;
  void lists[1].then(() => (hasSecond = true));
  void (await lists[0]);
  await turnsOfTheLoop(20);
  expect(hasSecond).toBe(false);
  loaders.device.answer = null;
  answered.resolve(0);
  expect(await Promise.all(await lists[1])).toHaveLength(2_000);
});

test('a list of a query does not stand behind that of a mutation, which may wait for the turn that the query has', async () => {
  const caller = { tokenId: 'both', tenant: 'both' };
  const mutation = new GraphqlContext(caller as never, '', {} as never, {} as never);
  mutation.nextTurn = async () => {};
  mutation.nextPiece = () => new Promise(() => {});
  await (listInSlices(Array.from({ length: LENGTH }, Object), mutation) as unknown as Promise<unknown[]>);
  const lastList = Promise.resolve();
  const asked = { isMutation: false, caller, loaders: {}, answersWith: () => {}, lastList };
  const query = asked as unknown as GraphqlContext;
  const list = listInSlices(Array.from({ length: 2_000 }, Object), query) as unknown as Promise<Promise<unknown>[]>;
  expect(await Promise.all(await list)).toHaveLength(2_000);
  mutation.over();
});

test('lists of very many parents are asked for a hundred at a time, and between them others have their turn', async () => {
  const loaders = createLoaders({} as LoaderSources, new WorkBudget());
  let underWay = 0;
  let most = 0;
  const read = async (): Promise<number[]> => {
    most = Math.max(most, (underWay += 1));
    await turnsOfTheLoop(1);
    underWay -= 1;
    return [];
  };
  const loop = countTurns();
  await Promise.all(Array.from({ length: 2_000 }, async (_, at) => loaders.list.load({ name: `${at}`, read })));
  loop.stop();
  expect(most).toBe(100);
  expect(loop.turns).toBeGreaterThan(10);
});

test('of an operation that has its answer, or failed while its lists were under way, nothing more comes', async () => {
  const come = { first: 0, gone: 0, last: 0 };
  const ends: (() => void)[] = [];
  const open = (name: keyof typeof come): GraphqlContext => {
    const context = new GraphqlContext({ tokenId: 'over', tenant: 'over' } as never, '', {} as never, {} as never);
    context.nextTurn = async () => {};
    context.nextPiece = () => new Promise((end) => ends.push(end));
    const list = listInSlices(Array.from({ length: LENGTH }, Object), context) as unknown as Promise<
      Promise<unknown>[]
    >;
    void list.then((items) => items.forEach((item) => void item.then(() => (come[name] += 1))));
    return context;
  };
  const [first, gone] = [open('first'), open('gone')];
  open('last');
  gone.answersWith(6_000);
  const short = (listInPlace([1], gone) as Promise<unknown>).catch((error: Error) => error.message);
  await turnsOfTheLoop(20);
  expect(come).toEqual({ first: 8, gone: 0, last: 0 });
  gone.over();
  first.over();
  expect(await short).toBe('Too many fields failed.');
  ends[0]!();
  await turnsOfTheLoop(20);
  expect(come).toEqual({ first: 8, gone: 0, last: 8 });
});

test('short lists that waited for their place come when it is known that their token is good, all of them', async () => {
  const known = Promise.withResolvers<null>();
  const present = (): Promise<null> => known.promise;
  const access = { tokenId: 'revoked', tenant: 'revoked' } as never;
  const context = new GraphqlContext(access, '', {} as never, {} as never, new WorkBudget(), present);
  context.nextTurn = async () => {};
  context.answersWith(6_000);
  let come = 0;
  const lists = Array.from({ length: 5 }, async () => {
    await listInPlace([1], context);
    come += 1;
  });
  await turnsOfTheLoop(30);
  expect(come).toBe(0);
  known.resolve(null);
  for (const ended of await Promise.allSettled(lists))
    expect(ended).toMatchObject({ status: 'rejected', reason: { code: 'UNAUTHENTICATED' } });
  context.over();
});

test('short lists that waited for their place come one in each turn of the event loop', async () => {
  const loop = countTurns();
  const context = new GraphqlContext({ tokenId: 'crowd', tenant: 'crowd' } as never, '', {} as never, {} as never);
  context.nextTurn = async () => {};
  expect(listInPlace([1], context)).toEqual([1]);
  context.answersWith(6_000);
  const come = Array.from({ length: 20 }, async () => {
    await listInPlace([1], context);
    return loop.turns;
  });
  expect(new Set(await Promise.all(come)).size).toBe(20);
  loop.stop();
  context.over();
});

test('of the pages of audit logs that are asked for at once others have their turn between any two', async () => {
  let ms = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => ms);
  const loop = countTurns();
  const readIn: number[] = [];
  const list = async (): Promise<unknown> => {
    readIn.push(loop.turns);
    ms += 10;
    return { items: [], hasNextPage: false };
  };
  const resolver = new AuditResolver({ list } as never);
  await Promise.all(
    Array.from({ length: 8 }, () => resolver.auditLog({ access: null, budget: { check: () => {} } } as never)),
  );
  loop.stop();
  expect(new Set(readIn).size).toBeGreaterThan(4);
});
