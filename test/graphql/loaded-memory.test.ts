import { GraphQLInt, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { afterEach, expect, test, vi } from 'vitest';
import type { Access } from '../../src/domain/access/access.ts';
import { FairScheduler } from '../../src/scheduling/fair-scheduler.ts';
import { AppError } from '../../src/errors.ts';
import { GraphqlContext } from '../../src/graphql/context/graphql-context.ts';
import { LoadedMemory } from '../../src/graphql/context/loaded-memory.ts';
import type { Executed } from '../../src/graphql/operation/query-coalescing.ts';
import { Operations } from '../../src/graphql/operation/operations.ts';
import { type PlannedField } from '../../src/graphql/operation/operation-plan.ts';
import { executePlanned } from '../../src/graphql/operation/planned-execution.ts';

const MEGABYTE = 1_048_576;
/** Characters of a step, each of two bytes in memory. */
const STEP = MEGABYTE / 4;
const STEPS = 80;

afterEach(() => vi.useRealTimers());

/** Operations that load 40 MB in eighty steps, or a few KB; `held`: what all that run have loaded until they may end. */
function open() {
  const mayEnd = Promise.withResolvers<void>();
  const held = { now: 0, top: 0 };
  const load = async (context: GraphqlContext, characters: number, steps: number): Promise<number> => {
    let own = 0;
    const step = async (): Promise<number> => {
      held.now += 2 * characters;
      own += 2 * characters;
      held.top = Math.max(held.top, held.now);
      await new Promise((resolve) => setTimeout(resolve, 1));
      return characters;
    };
    for (let at = 0; at < steps; at += 1) await context.budget.load(step, (loaded) => loaded);
    if (steps > 1) await mayEnd.promise;
    held.now -= own;
    return steps;
  };
  const query = new GraphQLObjectType<unknown, GraphqlContext>({
    name: 'Query',
    fields: {
      much: { type: GraphQLInt, resolve: (_, __, context) => load(context, STEP, STEPS) },
      little: { type: GraphQLInt, resolve: (_, __, context) => load(context, 1_000, 1) },
    },
  });
  const operations = new Operations(new GraphQLSchema({ query }), new FairScheduler());
  const ask = async (tokenId: string, tenant: string, field: string): Promise<Executed> => {
    const context = new GraphqlContext({ tokenId, tenant } as Access, '', {} as never, {} as never);
    return operations.execute(
      await operations.admit({ query: `{ a${Math.random()}: ${field} }`.replace('0.', ''), variables: {} }, context),
    );
  };
  return { held, ask, mayEnd: mayEnd.resolve };
}

test('what operations that run have loaded is bounded together: they wait for each other, and who asks little of another tenant for nobody', async () => {
  const { held, ask, mayEnd } = open();
  const much = Array.from({ length: 32 }, (_, at) => ask(`token ${at % 8}`, 'tenant', 'much'));
  await expect.poll(() => held.now).toBeGreaterThan(40 * MEGABYTE);
  expect((await ask('another', 'another', 'little')).result.errors).toBeUndefined();
  expect(held.now).toBeGreaterThan(40 * MEGABYTE);
  mayEnd();
  for (const { result } of await Promise.all(much)) expect(result.errors).toBeUndefined();
  expect(held.top).toBeLessThan(160 * MEGABYTE);
  expect(held.now).toBe(0);
});

test('beyond all bounds the first goes on whose tenant was first, then the next; who waits for too long is refused', async () => {
  vi.useFakeTimers();
  const memory = new LoadedMemory();
  const party = (at: number) => ({ tokenId: `token ${at}`, tenant: `tenant ${at}` });
  const all = Array.from({ length: 8 }, (_, at) => memory.open(party(at), () => {}));
  const outcomes = new Map<string, string>();
  const room = async (at: number, megabytes: number): Promise<void> => {
    const name = `${at}: ${megabytes}`;
    outcomes.set(name, 'waits');
    try {
      await all[at]!.room(megabytes * MEGABYTE);
      outcomes.set(name, 'room');
    } catch (error) {
      outcomes.set(name, (error as AppError).code);
    }
  };
  const now = async (): Promise<Record<string, string>> => {
    await vi.advanceTimersByTimeAsync(0);
    return Object.fromEntries(outcomes);
  };
  for (let at = 0; at < 8; at += 1) void room(at, 32);
  void room(0, 100);
  for (const at of [1, 2, 3]) void room(at, 1);
  expect(await now()).toMatchObject({
    '0: 32': 'room',
    '5: 32': 'room',
    '6: 32': 'waits',
    '0: 100': 'room',
    '1: 1': 'waits',
  });
  all[0]!.end();
  expect(await now()).toMatchObject({ '1: 1': 'room', '2: 1': 'waits', '6: 32': 'room', '7: 32': 'waits' });
  void room(1, 100);
  all[3]!.end();
  expect(await now()).toMatchObject({ '1: 100': 'room', '3: 1': 'UNAVAILABLE' });
  await vi.advanceTimersByTimeAsync(16_000);
  expect(await now()).toMatchObject({ '2: 1': 'OVERLOADED', '7: 32': 'room' });
  for (const one of all) one.end();
  expect(memory.bytes).toBe(0);
});

test('whoever has little is not held up by one of another tenant that has more than all may have', () => {
  const memory = new LoadedMemory();
  const open = (tenant: string) => memory.open({ tokenId: tenant, tenant }, () => {});
  const [much, more, page] = [open('much'), open('much'), open('another')];
  expect(much.room(300 * MEGABYTE)).toBeUndefined();
  const waiting = more.room(3 * MEGABYTE);
  expect(waiting).toBeInstanceOf(Promise);
  expect(page.room(30 * MEGABYTE)).toBeUndefined();
  const second = open('another');
  expect(second.room(4 * MEGABYTE)).toBeUndefined();
  void waiting?.catch(() => {});
  for (const one of [much, more, page, second]) one.end();
});

test('what waits side by side has waited once, however many charts of one operation do', async () => {
  vi.useFakeTimers();
  const memory = new LoadedMemory();
  const open = () => memory.open({ tokenId: 'token', tenant: 'tenant' }, () => {});
  const [before, one] = [open(), open()];
  await before.room(90 * MEGABYTE);
  open().add(90 * MEGABYTE);
  one.add(3 * MEGABYTE);
  const charts = Promise.all(Array.from({ length: 60 }, async () => one.room(MEGABYTE / 2)));
  charts.catch(() => {});
  await vi.advanceTimersByTimeAsync(2_000);
  before.end();
  await charts;
  expect(one.bytes).toBe(33 * MEGABYTE);
});

test('of a planned answer an object takes little more than its values, however many names it has', () => {
  const names = Array.from({ length: 120 }, (_, at) => `name${at}`);
  const type = { kind: 'leaf', nonNull: false, isPlain: true, serialize: (value: unknown) => value } as const;
  const fields = names.map(
    (key) =>
      ({
        key,
        name: 'value',
        nodes: [],
        definition: {},
        resolve: null,
        constant: null,
        type,
      }) as unknown as PlannedField,
  );
  const all: unknown[] = [];
  const make = () => executePlanned({ fields, operation: {}, rootValue: { value: 1 }, variables: {} } as never);
  for (let at = 0; at < 100; at += 1) void make();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < 10_000; at += 1) all.push(make());
  expect((process.memoryUsage().heapUsed - before) / all.length / names.length).toBeLessThan(30);
});
