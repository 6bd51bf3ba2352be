import { buildSchema, type ExecutionResult, getOperationAST, type GraphQLSchema, parse } from 'graphql';
import { afterEach, expect, test, vi } from 'vitest';
import type { Access } from '../../src/domain/access/access.ts';
import { MAX_VALUES } from '../../src/graphql/context/answer-limits.ts';
import { GraphqlContext } from '../../src/graphql/context/graphql-context.ts';
import { createLoaders, type LoaderSources } from '../../src/graphql/context/loaders.ts';
import { WorkBudget } from '../../src/graphql/context/work-budget.ts';
import { compileOperation } from '../../src/graphql/operation/compiled-operation.ts';
import { AuditResolver } from '../../src/graphql/resolvers/audit-resolver.ts';
import { countTurns } from '../support/loop-turns.ts';

afterEach(() => void vi.restoreAllMocks());

async function turnsOfTheLoop(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Answers items, of which each has a plain value, one that a resolver gives, and one that it promises. */
function open(length: number) {
  const schema: GraphQLSchema = buildSchema(`
    type Query { items: [Item!]! } type Mutation { make: [Item!]! }
    type Item { plain: Int resolved: Int promised: Int below: Item }
  `);
  const seen = { resolved: 0, turns: new Set<number>() };
  const loop = countTurns();
  const items = () => Array.from({ length }, (_, plain) => ({ plain }));
  schema.getQueryType()!.getFields()['items']!.resolve = items;
  schema.getMutationType()!.getFields()['make']!.resolve = items;
  const fields = (schema.getType('Item') as any).getFields();
  const resolved = ({ plain }: { plain: number }): number => {
    seen.resolved += 1;
    seen.turns.add(loop.turns);
    return plain;
  };
  fields.resolved.resolve = resolved;
  const come = Promise.withResolvers<void>();
  fields.promised.resolve = async ({ plain }: { plain: number }): Promise<number> => {
    await come.promise;
    return plain;
  };
  fields.below.resolve = async (item: { plain: number }): Promise<unknown> => {
    await come.promise;
    return item;
  };
  const run = async (query: string): Promise<{ result: ExecutionResult; context: GraphqlContext }> => {
    const document = parse(query);
    const context = new GraphqlContext({ tokenId: 't', tenant: 't' } as Access, '', {} as never, {} as never);
    const source = { schema, fragments: new Map(), operation: getOperationAST(document)! };
    const running = compileOperation(source, [], { fields: 1_000 })({ schema, document, contextValue: context });
    // All that was promised comes at once.
    come.resolve();
    const result = await running;
    loop.stop();
    return { result, context };
  };
  return { run, seen };
}

let ms = performance.now();

/** Each look at the clock takes a ms: a slice is over after a few. */
function slowClock(): void {
  vi.spyOn(performance, 'now').mockImplementation(() => (ms += 1));
}

test.each([
  ['of a query', '{ items { plain resolved } }', 5],
  ['of a mutation', 'mutation { make { plain resolved } }', 5],
  ['that are promised together', '{ items { below { plain resolved } } }', 5],
])('others are heard between the items of a long list %s, and all of them are there', async (_, query, turns) => {
  slowClock();
  const { run, seen } = open(5_000);
  const { result } = await run(query);
  const [items] = Object.values(result.data!) as Record<string, unknown>[][];
  const expected = Array.from({ length: 5_000 }, (__, plain) => ({ plain, resolved: plain }));
  expect(items!.map((item) => item['below'] ?? item)).toEqual(expected);
  expect(seen.turns.size).toBeGreaterThan(turns);
});

test('what is short is answered at once', () => {
  const { run, seen } = open(20);
  void run('{ items { plain resolved promised } }');
  expect(seen.resolved).toBe(20);
});

test('an answer has all the values that it may have, and none more: the operation ends', async () => {
  const most = MAX_VALUES / 2;
  const { result } = await open(most - 1).run('{ items { plain resolved } }');
  expect(result.data!['items']).toHaveLength(most - 1);
  for (const query of [
    '{ items { plain resolved } }',
    '{ items { a: plain b: plain } }',
    'mutation { make { plain promised } }',
  ]) {
    const { run, seen } = open(most + 1_000);
    const ended = await run(query);
    expect(ended.result).toMatchObject({ data: null, errors: [{ message: expect.stringContaining('100000 values') }] });
    // Nothing more is loaded for it, nor looked at.
    expect(() => ended.context.budget.check()).toThrow('100000 values');
    expect(seen.resolved).toBeLessThanOrEqual(most);
  }
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
  await Promise.all(Array.from({ length: 2_000 }, async (_, at) => loaders.list(`${at}`, read)));
  loop.stop();
  expect(most).toBe(100);
  expect(loop.turns).toBeGreaterThan(10);
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
