import {
  type GraphQLFieldResolver,
  GraphQLInt,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
} from 'graphql';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Access } from '../../src/domain/access/access.ts';
import { AppError } from '../../src/errors.ts';
import { PointBudget } from '../../src/domain/history/point-budget.ts';
import { EventLoopQueue } from '../../src/scheduling/event-loop-queue.ts';
import { LANES } from '../../src/scheduling/lanes.ts';
import type { DecoderVersion } from '../../src/domain/entities/decoder-version.ts';
import { createLoaders, type LoaderSources } from '../../src/graphql/context/loaders.ts';
import { WorkBudget } from '../../src/graphql/context/work-budget.ts';
import type { Caller } from '../../src/scheduling/caller.ts';
import { currentCaller, runAs } from '../../src/scheduling/current-caller.ts';
import { FairScheduler } from '../../src/scheduling/fair-scheduler.ts';
import { SpareTime } from '../../src/scheduling/spare-time.ts';
import { GraphqlContext } from '../../src/graphql/context/graphql-context.ts';
import { Operations } from '../../src/graphql/operation/operations.ts';
import { countTurns } from '../support/loop-turns.ts';
import { pass } from '../support/turned-clock.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const party = (tokenId: string, tenant = tokenId): Caller => ({ tokenId, tenant });

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** For how long it waits for its turn, within half a second. */
async function waitOf(begin: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  let began = NaN;
  const running = begin().then(() => (began = performance.now()));
  await pass(500);
  await running;
  return began - from;
}

test('who has used more than its burst beside others waits as long as that takes, and no longer', async () => {
  const shares = new FairScheduler();
  shares.noteOtherTraffic();
  // 6 ms over the 50 that are free: of each millisecond three tenths are forgotten.
  shares.spend(party('charts'), 56);
  const wait = await waitOf(() => shares.begin(party('charts')));
  expect(wait).toBeGreaterThanOrEqual(20);
  expect(wait).toBeLessThan(25);
});

test('what is no number is held against nobody', async () => {
  const shares = new FairScheduler();
  shares.noteOtherTraffic();
  shares.spend(party('charts'), NaN);
  expect(await waitOf(() => shares.begin(party('charts')))).toBe(0);
});

test('who asks for more than one thing at once has a smaller share, for a while', async () => {
  const shares = new FairScheduler();
  shares.noteOtherTraffic();
  shares.spend(party('charts'), 56);
  const wait = await waitOf(() => Promise.all([1, 2].map(() => shares.begin(party('charts')))));
  expect(wait).toBeGreaterThanOrEqual(40);
  expect(wait).toBeLessThan(45);
  shares.noteOtherTraffic();
  shares.spend(party('charts'), 56);
  // Half a second later it is one by one again.
  expect(await waitOf(() => shares.begin(party('charts')))).toBeLessThan(25);
});

test('what a caller has done in the background is one account, and nothing that it asks waits for it', async () => {
  const shares = new FairScheduler();
  const [files, replays] = [shares.backgroundOf(party('charts')), shares.backgroundOf(party('charts'))];
  shares.noteOtherTraffic();
  files.spend(70);
  expect(await waitOf(() => shares.begin(party('charts')))).toBe(0);
  shares.noteOtherTraffic();
  files.spend(70);
  const wait = await waitOf(replays.next);
  expect(wait).toBeGreaterThanOrEqual(133);
  expect(wait).toBeLessThan(138);
});

test('who waits in the background for turn after turn has the smaller share in front, too', async () => {
  const shares = new FairScheduler();
  const files = shares.backgroundOf(party('charts'));
  shares.noteOtherTraffic();
  files.spend(1_000);
  const waiting = files.next();
  for (let at = 0; at < 3; at += 1) {
    await pass(200);
    shares.noteOtherTraffic();
  }
  shares.spend(party('charts'), 56);
  const wait = await waitOf(() => shares.begin(party('charts')));
  expect(wait).toBeGreaterThanOrEqual(40);
  expect(wait).toBeLessThan(45);
  await pass(10_000);
  await waiting;
});

test.each([
  ['ten seconds', 1, 9_900, 10_100],
  ['longer when its tenant works there with very many', 40, 100_000, Infinity],
])('for what it has used nobody waits in the background for more than %s', async (_, tokens, leastMs, mostMs) => {
  const shares = new FairScheduler();
  const files = Array.from({ length: tokens }, (_, at) => shares.backgroundOf(party(`token ${at}`, 'tenant')));
  for (const { spend } of files) spend(5_000);
  shares.noteOtherTraffic();
  const state = { isOver: false };
  const waiting = files[0]!.next().then(() => (state.isOver = true));
  let passedMs = 0;
  for (; !state.isOver; passedMs += 50) {
    shares.noteOtherTraffic();
    for (const { spend } of files.slice(1)) spend(5_000);
    await pass(50);
  }
  await waiting;
  expect(passedMs).toBeGreaterThanOrEqual(leastMs);
  expect(passedMs).toBeLessThan(mostMs);
});

test('background work counts twofold while its caller has used up its share', async () => {
  const shares = new FairScheduler();
  const files = shares.backgroundOf(party('charts'));
  shares.spend(party('charts'), 1_000);
  shares.noteOtherTraffic();
  files.spend(40);
  const wait = await waitOf(files.next);
  expect(wait).toBeGreaterThanOrEqual(200);
  expect(wait).toBeLessThan(205);
});

test.each([
  ['many at once', (shares: FairScheduler) => [1, 2].map(() => shares.begin(party('charts')))],
  ['in the background', (shares: FairScheduler) => [shares.begin(party('charts'), { patient: true })]],
])('who asks for things %s has the smaller share however long they wait', async (_, begin) => {
  const shares = new FairScheduler();
  shares.noteOtherTraffic();
  shares.spend(party('charts'), 140);
  let began = NaN;
  const from = performance.now();
  const running = Promise.all(begin(shares)).then(() => (began = performance.now()));
  for (let ms = 0; ms < 800; ms += 50) {
    shares.noteOtherTraffic();
    await pass(50);
  }
  await running;
  expect(began - from).toBeGreaterThanOrEqual(600);
  expect(began - from).toBeLessThan(660);
});

test('who waits in the background for turn after turn has the smaller share of all the time', async () => {
  const shares = new FairScheduler();
  const files = shares.turnsOf(party('files'), { expensive: true, patient: true });
  const state = { isOver: false };
  const from = performance.now();
  const running = (async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      await files.next();
      files.spend(100);
    }
    state.isOver = true;
    return performance.now() - from;
  })();
  while (!state.isOver) {
    shares.noteOtherTraffic();
    await pass(50);
  }
  // 500 ms, the last of them not waited for any more and 50 at once.
  expect(await running).toBeGreaterThan(350 / 0.16);
});

/** For how long it has to wait who has just asked for a history that others bring so. */
async function waitAfter(bring: (points: PointBudget) => Promise<number>, tookMs: number): Promise<number> {
  const resolve = (_: unknown, __: unknown, { points }: GraphqlContext): Promise<number> => bring(points);
  const history = { type: GraphQLInt, resolve };
  const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields: { history } }) });
  const shares = new FairScheduler();
  const operations = new Operations(schema, shares);
  const context = new GraphqlContext({ tokenId: 'charts' } as Access, '', {} as never, {} as never);
  const running = operations.execute(await operations.admit({ query: '{ history }' }, context));
  await pass(tookMs);
  expect((await running).result.errors).toBeUndefined();
  shares.noteOtherTraffic();
  return waitOf(() => shares.begin(party('charts')));
}

test('a query also pays for the points of its histories: other threads bring them, on the same processors', async () => {
  const wait = await waitAfter((points) => points.within(1, async () => 150_000, Number), 0);
  expect(wait).toBeGreaterThanOrEqual(83);
  expect(wait).toBeLessThan(100);
});

test('and a quarter of the time that long ones take, however cheap its text is', async () => {
  const wait = await waitAfter(async (points) => {
    points.worked(450);
    return 1;
  }, 0);
  expect(wait).toBeGreaterThanOrEqual(166);
  expect(wait).toBeLessThan(180);
});

test('and for planning them, whatever comes of it and however cheap its text is', async () => {
  const plan = (points: PointBudget): Promise<number> =>
    points
      .plan(new EventLoopQueue(LANES.socketMessages), () => {
        vi.advanceTimersByTime(100);
        throw new Error('too many buckets');
      })
      .catch(() => 1);
  const wait = await waitAfter(plan, 0);
  expect(wait).toBeGreaterThanOrEqual(166);
  expect(wait).toBeLessThan(180);
});

test('admission is paid for by the clock, of a document that is known, too', async () => {
  const read = (): number => {
    vi.advanceTimersByTime(4);
    return 1;
  };
  const args = { at: { type: new GraphQLScalarType({ name: 'Slow', parseValue: read }) } };
  const fields = { name: { type: GraphQLString, args } };
  const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields }) });
  const shares = new FairScheduler();
  const operations = new Operations(schema, shares);
  const spent = vi.spyOn(shares, 'spend');
  const paid: number[] = [];
  for (let time = 0; time < 3; time += 1) {
    const context = new GraphqlContext({ tokenId: 't' } as Access, '', {} as never, {} as never);
    await operations.admit({ query: 'query ($at: Slow) { name(at: $at) }', variables: { at: 1 } }, context);
    paid.push(spent.mock.calls.reduce((sum, [, ms]) => sum + ms, 0));
    spent.mockClear();
  }
  expect(Math.min(...paid)).toBeGreaterThanOrEqual(4);
});

test.each([
  ['waited for the database, which answered', () => 1, 150],
  ['waited for one that did not', () => { throw new AppError('UNAVAILABLE', 'away'); }, 0], // oxfmt-ignore
])('who %s: that is held against nobody unless there was an answer', async (_, end, waitedFor) => {
  const resolve = async (): Promise<number> => {
    await pause(10);
    return end();
  };
  const fields = { history: { type: GraphQLInt, resolve } };
  const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields }) });
  const shares = new FairScheduler();
  const operations = new Operations(schema, shares);
  const spent = vi.spyOn(shares, 'spend');
  const ask = async (): Promise<void> => {
    const context = new GraphqlContext({ tokenId: 'charts' } as Access, '', {} as never, {} as never);
    await operations.execute(await operations.admit({ query: '{ history }' }, context));
  };
  const asking = Promise.all(Array.from({ length: 150 }, ask));
  await pass(600);
  await asking;
  const paid = spent.mock.calls.reduce((sum, [, ms]) => sum + ms, 0);
  // What each asks costs a little by itself.
  expect(paid).toBeGreaterThanOrEqual(waitedFor);
  expect(paid).toBeLessThan(waitedFor + 75);
});

test('an operation with many plans has one of them waiting, so that those of another come in between', async () => {
  const plans = new EventLoopQueue(LANES.socketMessages);
  const planned: string[] = [];
  const planThree = (name: string): Promise<unknown> => {
    const budget = new PointBudget();
    return Promise.all([1, 2, 3].map(() => budget.plan(plans, () => planned.push(name))));
  };
  await Promise.all([planThree('a'), planThree('b')]);
  expect(planned).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
});

test('of many tokens of one tenant that begin at once, others do not wait for the end', async () => {
  const shares = new FairScheduler();
  let began = 0;
  const work = async (): Promise<void> => {
    began += 1;
    await pause(400);
  };
  const crowd = Array.from({ length: 8 }, (_, at) => party(`${at}`, 'crowd'));
  const running = crowd.flatMap((each) => [1, 2, 3, 4].map(() => shares.run(each, work)));
  await pass(1);
  expect(began).toBe(16);
  expect(await waitOf(() => shares.begin(party('other')))).toBe(0);
  await pass(1_000);
  await Promise.all(running);
});

test('who keeps within its burst does not wait for what runs long for others', async () => {
  const shares = new FairScheduler();
  const long = ['a', 'b', 'c', 'd'].map((name) => shares.run(party(name), () => pause(300), { expensive: true }));
  expect(await waitOf(() => shares.begin(party('little'), { expensive: true }))).toBe(0);
  await Promise.all(long);
  // Of those, too, there is an end.
  const many = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) =>
    shares.run(party(name), () => pause(300), { expensive: true }),
  );
  expect(await waitOf(() => shares.begin(party('one more'), { expensive: true }))).toBeGreaterThanOrEqual(300);
  await Promise.all(many);
});

test('alone nobody waits', async () => {
  const shares = new FairScheduler();
  shares.spend(party('charts'), 1_000);
  let began = false;
  await shares.run(party('charts'), async () => void (began = true));
  expect(began).toBe(true);
});

test('reading side by side is counted once, reading one after the other is not', async () => {
  const budget = new PointBudget();
  const read = (ms: number): Promise<void> =>
    budget.within(
      1,
      () => pause(ms),
      () => 1,
    );
  const both = Promise.all([read(30), read(20)]);
  await pass(30);
  await both;
  expect(budget.readMs).toBe(30);
  await pass(50);
  const third = read(10);
  await pass(10);
  await third;
  expect(budget.readMs).toBe(40);
});

test('others have their turn while many operations plan histories', async () => {
  const plans = new EventLoopQueue(LANES.socketMessages);
  let turns = 0;
  let isOver = false;
  const other = (): void => {
    turns += 1;
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  // Each takes 15 ms of a clock that is turned by hand.
  const plan = (at: number): number => {
    vi.advanceTimersByTime(15);
    return at;
  };
  const planned = await Promise.all(
    Array.from({ length: 10 }, (_, at) => new PointBudget().plan(plans, () => plan(at))),
  );
  isOver = true;
  expect(planned).toEqual(Array.from({ length: 10 }, (_, at) => at));
  // Two fit between two turns.
  expect(turns).toBeGreaterThanOrEqual(4);
});

test('who works in the background together has three tenths, as many as they are', async () => {
  const shares = new FairScheduler();
  const files = Array.from({ length: 6 }, (_, at) => shares.backgroundOf(party(`token ${at}`)));
  shares.noteOtherTraffic();
  for (const { spend } of files) spend(60);
  // 10 ms over what is free, at a twentieth each.
  const wait = await waitOf(() => Promise.all(files.map(({ next }) => next())));
  expect(wait).toBeGreaterThanOrEqual(185);
  expect(wait).toBeLessThan(210);
});

test('who uses more than its burst, together with all others who do, has six tenths', async () => {
  const shares = new FairScheduler();
  const names = Array.from({ length: 12 }, (_, at) => `token ${at}`);
  shares.noteOtherTraffic();
  for (const name of names) shares.spend(party(name), 60);
  // 10 ms over what is free, at a twentieth each, not at three tenths.
  const wait = await waitOf(() => Promise.all(names.map((name) => shares.begin(party(name)))));
  expect(wait).toBeGreaterThanOrEqual(165);
  expect(wait).toBeLessThan(210);
});

/**
 * For how long charts that are 90 ms over their burst wait while others do something every 10 ms, on a loop of which a
 * tenth is used.
 */
async function waitBeside(others: (shares: FairScheduler) => void): Promise<number> {
  const shares = new FairScheduler(undefined, new SpareTime(() => performance.now() * 0.9));
  const state = { isOver: false };
  const goOn = async (): Promise<void> => {
    while (!state.isOver) {
      others(shares);
      await pause(10);
    }
  };
  const going = goOn();
  shares.spend(party('charts'), 140);
  const wait = await waitOf(() => shares.begin(party('charts')));
  state.isOver = true;
  await pass(10);
  await going;
  return wait;
}

test('time that nobody wants is not waited for', async () => {
  expect(await waitBeside((shares) => shares.noteOtherTraffic())).toBeLessThanOrEqual(150);
});

test.each([
  ['requests', (shares: FairScheduler) => { for (let at = 0; at < 30; at += 1) shares.noteOtherTraffic(); }],
  ['light callers', (shares: FairScheduler) => { for (let at = 0; at < 9; at += 1) shares.spend(party(`${at}`), 1); }],
])('where %s want most of the time, none is to spare', async (_, others) => {
  expect(await waitBeside(others)).toBeGreaterThanOrEqual(290);
}); // oxfmt-ignore

test('who uses its whole share beside others uses much whenever it may go on, and alone nobody does', async () => {
  const shares = new FairScheduler();
  const charts = party('charts');
  shares.spend(charts, 60);
  expect(shares.usesMuch(charts)).toBe(false);
  shares.noteOtherTraffic();
  shares.spend(charts, 60);
  expect(shares.usesMuch(charts)).toBe(true);
  expect(shares.usesMuch(party('others'))).toBe(false);
  await waitOf(async () => {
    await shares.begin(charts);
    expect(shares.usesMuch(charts)).toBe(true);
  });
  shares.noteOtherTraffic();
  expect(shares.usesMuch(charts)).toBe(false);
});

/** Who asks in a loop, so many at once, for what takes the event loop so many ms; for how long each had it in four seconds. */
async function usedMs(loops: { name: string; atOnce: number; ms: number; expensive?: boolean }[]): Promise<number[]> {
  const shares = new FairScheduler();
  const until = performance.now() + 4_000;
  const used = loops.map(() => 0);
  const loop = async (at: number): Promise<void> => {
    const { name, ms, expensive } = loops[at]!;
    while (performance.now() < until) {
      await shares.run(party(name), () => pause(ms), { expensive });
      shares.spend(party(name), ms);
      used[at]! += ms;
    }
  };
  const all = loops.flatMap(({ atOnce }, at) => Array.from({ length: atOnce }, () => loop(at)));
  await pass(5_000);
  await Promise.all(all);
  return used;
}

test('of two who have both used more than their burst, the one who has used more waits for the other, and both go on', async () => {
  const [much, more] = await usedMs([
    { name: 'much', atOnce: 1, ms: 2 },
    { name: 'more', atOnce: 4, ms: 40 },
  ]);
  expect(much).toBeGreaterThan(1_500);
  // A crowd has half of the share of one thing after the other.
  expect(more).toBeGreaterThan(much! * 0.45);
  expect(more).toBeLessThan(much! * 0.7);
});

test('who asks for expensive work alone has none of what is divided among those who ask for other things, too', async () => {
  const [cheap, expensive] = await usedMs([
    { name: 'cheap', atOnce: 1, ms: 2 },
    { name: 'dear', atOnce: 4, ms: 40, expensive: true },
  ]);
  expect(cheap).toBeGreaterThan(3_000);
  expect(expensive).toBeGreaterThan(300);
  expect(expensive).toBeLessThan(900);
});

test('those who ask for nothing but expensive work divide it among themselves', async () => {
  const [one, other] = await usedMs([
    { name: 'one', atOnce: 4, ms: 40, expensive: true },
    { name: 'other', atOnce: 4, ms: 40, expensive: true },
  ]);
  expect(one! + other!).toBeGreaterThan(3_500);
  expect(one! / other!).toBeGreaterThan(0.8);
  expect(one! / other!).toBeLessThan(1.25);
});

test('who comes into another tenant has its part of what that one has, from then on', async () => {
  const shares = new FairScheduler();
  const many = Array.from({ length: 8 }, (_, at) => party(`token ${at}`, 'many'));
  shares.noteOtherTraffic();
  for (const one of [...many, party('charts', 'many')]) shares.spend(one, 60);
  const waiting = many.map((one) => shares.begin(one));
  expect(await waitOf(() => shares.begin(party('charts', 'single')))).toBeLessThan(40);
  await Promise.all(waiting);
});

test('a tenant with many tokens has no more than one with a single one', async () => {
  const shares = new FairScheduler();
  const many = Array.from({ length: 8 }, (_, at) => party(`token ${at}`, 'many'));
  const single = party('charts', 'single');
  shares.noteOtherTraffic();
  for (const one of [...many, single]) shares.spend(one, 60);
  const waits: number[] = [];
  const begin = (one: Caller, at: number): Promise<unknown> =>
    shares.begin(one).then(() => (waits[at] = performance.now() - from));
  const from = performance.now();
  await waitOf(() => Promise.all([single, ...many].map(begin)));
  // 10 ms over what is free: at three tenths for the single one, and for the others at an eighth of that, of six tenths
  // when it has gone.
  expect(waits[0]).toBeGreaterThanOrEqual(33);
  expect(waits[0]).toBeLessThan(40);
  expect(Math.min(...waits.slice(1))).toBeGreaterThanOrEqual(145);
  expect(Math.max(...waits.slice(1))).toBeLessThan(210);
});

test('how many they are now says nothing of what somebody was forgiven before', async () => {
  const shares = new FairScheduler();
  shares.spend(party('charts'), 2_000);
  await pass(60_000);
  shares.noteOtherTraffic();
  for (let at = 0; at < 50; at += 1) shares.spend(party(`token ${at}`), 60);
  expect(await waitOf(() => shares.begin(party('charts')))).toBe(0);
});

test('however many they are, each gets on', async () => {
  const shares = new FairScheduler();
  for (let at = 0; at < 300; at += 1) shares.spend(party(`token ${at}`), 60);
  const goOn = setInterval(() => {
    for (let at = 0; at < 300; at += 1) shares.spend(party(`token ${at}`), 1);
    shares.noteOtherTraffic();
  }, 100);
  shares.noteOtherTraffic();
  shares.spend(party('charts'), 53);
  // 3 ms over what is free, at a hundredth.
  expect(await waitOf(() => shares.begin(party('charts')))).toBeLessThan(310);
  clearInterval(goOn);
});

test('a token lets so many pieces wait in the background, and is told of what is too much', async () => {
  const shares = new FairScheduler();
  shares.noteOtherTraffic();
  const { piece } = shares.backgroundOf(party('token'));
  const work = (): Promise<void> => pause(1);
  const all = Promise.allSettled(Array.from({ length: 210 }, () => piece(work)));
  await pass(2_000);
  const refused = (await all).filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(10);
  expect(refused[0]).toMatchObject({ reason: { code: 'OVERLOADED' } });
});

test('what a piece looks up stands in the lines of whom it is for, beside others and alone', async () => {
  const shares = new FairScheduler();
  const { piece } = shares.backgroundOf(party('token', 'tenant'));
  expect(await piece(async () => currentCaller())).toEqual(party('token', 'tenant'));
  shares.noteOtherTraffic();
  const told = runAs(party('reader'), () => piece(async () => currentCaller()));
  await pass(1);
  expect(await told).toEqual(party('token', 'tenant'));
});

/** Pieces of so many ms each, as names; what comes back says in which order they began and ended. */
function pieces(shares: FairScheduler, names: string[], ms: number): { done: Promise<unknown>; told: string[] } {
  const told: string[] = [];
  const work = async (name: string): Promise<void> => {
    told.push(`${name} begins`);
    await pause(ms);
    told.push(`${name} ends`);
  };
  return { done: Promise.all(names.map((name) => shares.backgroundOf(party(name)).piece(() => work(name)))), told };
}

test('beside others the database works on one piece in the background at a time, and nobody stands behind all of one token', async () => {
  const shares = new FairScheduler();
  shares.noteOtherTraffic();
  const { done, told } = pieces(shares, ['many', 'many', 'many', 'one'], 4);
  await pass(100);
  await done;
  const order = ['many', 'one', 'many', 'many'];
  expect(told).toEqual(order.flatMap((name) => [`${name} begins`, `${name} ends`]));
});

test('a piece that takes long holds up its own token only', async () => {
  const shares = new FairScheduler();
  const goOn = setInterval(() => shares.noteOtherTraffic(), 100);
  shares.noteOtherTraffic();
  const long = pieces(shares, ['long', 'long'], 10_000);
  const short = pieces(shares, ['short'], 10);
  await pass(3_000);
  expect(long.told).toEqual(['long begins']);
  expect(short.told).toEqual(['short begins', 'short ends']);
  await pass(60_000);
  clearInterval(goOn);
  await long.done;
});

test('alone they are worked on side by side', async () => {
  const { done, told } = pieces(new FairScheduler(), ['many', 'many', 'one'], 4);
  await pass(100);
  await done;
  expect(told.slice(0, 3)).toEqual(['many begins', 'many begins', 'one begins']);
});

test('a piece counts a quarter of its time, and the next one waits for it', async () => {
  const shares = new FairScheduler();
  const files = shares.backgroundOf(party('files'));
  const first = files.piece(() => pause(264));
  await pass(264);
  await first;
  shares.noteOtherTraffic();
  // 16 ms over what is free, at 0.15.
  const wait = await waitOf(() => files.piece(async () => {}));
  expect(wait).toBeGreaterThanOrEqual(106);
  expect(wait).toBeLessThan(112);
});

test('what failed leaves the way to the next', async () => {
  const shares = new FairScheduler();
  shares.noteOtherTraffic();
  const { piece } = shares.backgroundOf(party('files'));
  await expect(piece(() => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await piece(async () => 'next')).toBe('next');
});

test('of large answers that come together each is written in a turn of its own', async () => {
  const text = { type: GraphQLString, resolve: () => 'x'.repeat(200_000) };
  const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields: { text } }) });
  const operations = new Operations(schema, new FairScheduler());
  const loop = countTurns();
  const seen = await Promise.all(
    Array.from({ length: 4 }, async (_, at) => {
      const context = new GraphqlContext({ tokenId: `${at}` } as Access, '', {} as never, {} as never);
      await operations.execute(await operations.admit({ query: '{ text }' }, context));
      return loop.turns;
    }),
  );
  loop.stop();
  expect(new Set(seen).size).toBe(4);
});

/** Answers events of a token with one value each, and tells what was held against it for them. */
async function events(tokenId: string, resolve: GraphQLFieldResolver<unknown, GraphqlContext>) {
  const schema = new GraphQLSchema({
    query: new GraphQLObjectType({ name: 'Query', fields: { value: { type: GraphQLInt, resolve } } }),
  });
  const shares = new FairScheduler();
  const operations = new Operations(schema, shares);
  const context = new GraphqlContext({ tokenId } as Access, '', {} as never, {} as never);
  const admitted = await operations.admit({ query: '{ value }' }, context);
  const spent = vi.spyOn(shares, 'spend');
  return {
    answer: async (): Promise<unknown> => operations.answer(admitted, { of: null, value: () => ({}) }),
    paidMs: (): number => spent.mock.calls.reduce((sum, [, ms]) => sum + ms, 0),
  };
}

test.each([
  ['at once', (value: number) => value],
  ['by promises that are there', (value: number) => Promise.resolve(value)],
])(
  'cheap events that come in a crowd, answered %s, are paid for by the clock, all together once, and others have their turn in between',
  async (kind, answered) => {
    const loop = countTurns();
    const seen: number[] = [];
    const resolve = (): unknown => {
      seen.push(loop.turns);
      vi.advanceTimersByTime(1);
      return answered(1);
    };
    const { answer, paidMs } = await events(`crowd ${kind}`, resolve);
    await Promise.all(Array.from({ length: 100 }, answer));
    loop.stop();
    expect(paidMs()).toBeGreaterThan(90);
    expect(paidMs()).toBeLessThan(120);
    const turns = Map.groupBy(seen, (at) => at);
    expect(Math.max(...[...turns.values()].map(({ length }) => length))).toBeLessThan(30);
  },
);

test('of cheap events those that load anything are paid for by the clock, as many as wait beside each other', async () => {
  const resolve = (_: unknown, __: unknown, { budget }: GraphqlContext): Promise<number> =>
    budget.load(async () => pause(10).then(() => 1), () => 100); // oxfmt-ignore
  const { answer, paidMs } = await events('loads', resolve);
  const answering = (async () => {
    for (let time = 0; time < 10; time += 1) await answer();
  })();
  await pass(200);
  await answering;
  // So much at most as it may take at its price.
  expect(paidMs()).toBeGreaterThan(10);
});

test('long sources are loaded a few at a time, and others have their turn in between', async () => {
  const loads: number[] = [];
  const loop = countTurns();
  const find = async (_: unknown, { $or }: { $or: unknown[] }): Promise<unknown[]> => {
    loads.push(loop.turns);
    expect($or.length).toBeLessThanOrEqual(4);
    return [];
  };
  const sources = { database: { read: () => ({ find }) } };
  const { decoderSource } = createLoaders(sources as unknown as LoaderSources, new WorkBudget());
  const versions = Array.from({ length: 12 }, (_, version) => ({ product: { key: 1 }, version }) as DecoderVersion);
  await Promise.all(versions.map(async (version) => decoderSource.load(version)));
  loop.stop();
  expect(loads).toHaveLength(3);
  expect(new Set(loads).size).toBe(3);
});

test('of a thousand tokens that wait each is looked at a few times when one of them ends', async () => {
  let looks = 0;
  const shares = new FairScheduler(() => {
    looks += 1;
    return performance.now();
  });
  const ends: (() => void)[] = [];
  const tokens = Array.from({ length: 1_000 }, (_, at) => party(`token ${at}`, 'tenant'));
  for (const token of tokens) void shares.run(token, () => new Promise<void>((end) => ends.push(end)));
  expect(ends.length).toBe(16);
  // Beside it they wait until they are forgiven.
  await shares.begin(party('other'));
  for (const token of tokens) shares.spend(token, 100);
  looks = 0;
  ends[0]!();
  await pass(1);
  expect(ends.length).toBe(16);
  expect(looks).toBeLessThan(25_000);
});

test('of thousands who wait not all are looked at with each that ends and each that comes', async () => {
  let looks = 0;
  // Each takes a thousandth of a millisecond, and each operation one.
  const shares = new FairScheduler(() => performance.now() + (looks += 1) / 1_000);
  const started: number[] = [];
  const running = Array.from({ length: 2_000 }, (_, at) =>
    shares.run(party(`token ${at}`, `tenant ${at}`), async () => {
      started.push(at);
      await pause(1);
    }),
  );
  while (started.length < running.length) await pass(1);
  await pass(1);
  await Promise.all(running);
  expect(started).toEqual(running.map((_, at) => at));
  // They were 28 millions.
  expect(looks).toBeLessThan(3_000_000);
});
