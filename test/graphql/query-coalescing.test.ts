import { GraphQLInt, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Access } from '../../src/domain/access/access.ts';
import { FairScheduler } from '../../src/scheduling/fair-scheduler.ts';
import { AppError } from '../../src/errors.ts';
import { GraphqlContext } from '../../src/graphql/context/graphql-context.ts';
import { WorkBudget } from '../../src/graphql/context/work-budget.ts';
import { QueryCoalescing, type Executed } from '../../src/graphql/operation/query-coalescing.ts';
import { Operations } from '../../src/graphql/operation/operations.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

/** Executions that end when they are told to. */
function executions() {
  const begun: { budget: WorkBudget; end: (bytes?: number) => void }[] = [];
  const run = (budget: WorkBudget): Promise<Executed> =>
    new Promise((resolve) => {
      const number = begun.length + 1;
      begun.push({ budget, end: (bytes = 10) => resolve({ result: { data: { number } }, bytes, written: null }) });
    });
  return { begun, run };
}
const soon = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));
const numbers = (answers: Executed[]): unknown[] => answers.map(({ result }) => result.data?.['number']);

describe('equal queries', () => {
  test('that come while one is being answered share the next answer, others do not', async () => {
    const queries = new QueryCoalescing();
    const { begun, run } = executions();
    const ask = (key = 'same') => queries.of(key, new WorkBudget(), run);
    const first = ask();
    const meanwhile = [ask(), ask(), ask()];
    const other = ask('other');
    expect(begun).toHaveLength(2);
    begun[0]!.end();
    begun[1]!.end();
    await Promise.all([first, other]);
    await soon();
    expect(begun).toHaveLength(3);
    // Who comes once it has begun is not answered by it.
    const late = ask();
    begun[2]!.end();
    await soon();
    begun[3]!.end();
    expect(numbers(await Promise.all([first, other, ...meanwhile, late]))).toEqual([1, 2, 3, 3, 3, 4]);
    expect((await Promise.all([first, ...meanwhile])).map(({ isShared }) => isShared)).toEqual([
      false,
      false,
      true,
      true,
    ]);
    const afterwards = ask();
    begun[4]!.end();
    expect(numbers([await afterwards])).toEqual([5]);
  });

  test('do not wait for one that takes long', async () => {
    const queries = new QueryCoalescing();
    const { begun, run } = executions();
    const first = queries.of('same', new WorkBudget(), run);
    const second = queries.of('same', new WorkBudget(), run);
    await expect.poll(() => begun.length).toBe(2);
    begun[1]!.end();
    expect(numbers([await second])).toEqual([2]);
    begun[0]!.end();
    expect(numbers([await first])).toEqual([1]);
  });

  test('a long answer goes to one only', async () => {
    const queries = new QueryCoalescing();
    const { begun, run } = executions();
    const asked = [1, 2, 3].map(() => queries.of('same', new WorkBudget(), run));
    begun[0]!.end();
    await soon();
    begun[1]!.end(2_000_000);
    await soon();
    begun[2]!.end(2_000_000);
    expect(numbers(await Promise.all(asked))).toEqual([1, 2, 3]);
  });

  test('few of those who share one are answered in one turn of the event loop', async () => {
    const queries = new QueryCoalescing();
    const { begun, run } = executions();
    let told = 0;
    const asked = Array.from({ length: 101 }, async () => {
      await queries.of('same', new WorkBudget(), run);
      told += 1;
    });
    begun[0]!.end();
    await soon();
    begun[1]!.end();
    let most = 0;
    for (let before = told; told < asked.length; before = told) {
      await soon();
      most = Math.max(most, told - before);
    }
    expect(most).toBeLessThan(30);
    await Promise.all(asked);
  });

  test('work for several ends when the last of them is gone', async () => {
    const queries = new QueryCoalescing();
    const { begun, run } = executions();
    const budgets = [1, 2, 3].map(() => new WorkBudget());
    const asked = budgets.map((budget) => queries.of('same', budget, run));
    const gone = new AppError('UNAVAILABLE', 'The client is gone.');
    budgets[1]!.end(gone);
    begun[0]!.end();
    await soon();
    begun[1]!.budget.check();
    budgets[2]!.end(gone);
    expect(() => begun[1]!.budget.check()).toThrow(gone);
    begun[1]!.end();
    await Promise.all(asked);
  });
});

test('what forty ask at once runs twice where it is the same, and forty times where it is not', async () => {
  let runs = 0;
  const run = async (): Promise<number> => {
    runs += 1;
    await soon();
    return runs;
  };
  const fields = { one: { type: GraphQLInt, args: { at: { type: GraphQLInt } }, resolve: run } };
  const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields }) });
  const operations = new Operations(schema, new FairScheduler());
  const access = { tokenId: 'one' } as Access;
  const ask = async (query: string): Promise<unknown> => {
    const context = new GraphqlContext(access, '', {} as never, {} as never);
    return (await operations.execute(await operations.admit({ query }, context))).result.data?.['one'];
  };
  const forty = async (queryOf: (at: number) => string): Promise<number> => {
    const before = runs;
    const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => ask(queryOf(at))));
    for (const answer of answers) expect(answer).toBeGreaterThan(before);
    return runs - before;
  };
  expect(await forty(() => '{ one }')).toBe(2);
  expect(await forty((at) => `{ one(at: ${at}) }`)).toBe(40);
});

describe.each(['sqlite', 'postgres'] as const)('equal queries on %s', (database) => {
  let server: TestServer;
  let product: { id: string; deviceIds: string[] };
  beforeAll(async () => {
    // Run twice, a query would meet what is written meanwhile.
    server = await startServer({ database });
    product = await createProduct(server, {
      fields: { value: 'FLOAT' },
      serialNumbers: Array.from({ length: 20 }, (_, at) => `s${at}`),
    });
  });
  afterAll(() => server?.stop());
  const LIST = 'query ($p: ID!) { devices(productId: $p, first: 50) { edges { node { id latest { value } } } } }';

  test('whoever writes and then asks sees what it wrote, however many ask the same', async () => {
    await Promise.all(
      product.deviceIds.map(async (id) => {
        for (let value = 1; value <= 15; value += 1) {
          await server.record(id, [{ field: 'value', value, timestamp: 1_700_000_000 }]);
          const { devices } = await server.gql(LIST, { p: product.id });
          const mine = devices.edges.find(({ node }: any) => node.id === id);
          expect(mine.node.latest).toEqual([{ value }]);
        }
      }),
    );
  });
});
