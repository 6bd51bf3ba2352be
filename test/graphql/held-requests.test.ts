import { GraphQLObjectType, GraphQLScalarType, GraphQLSchema, GraphQLString } from 'graphql';
import { expect, test } from 'vitest';
import type { Access } from '../../src/domain/access/access.ts';
import { FairScheduler } from '../../src/scheduling/fair-scheduler.ts';
import { AppError } from '../../src/errors.ts';
import { GraphqlContext } from '../../src/graphql/context/graphql-context.ts';
import type { Executed } from '../../src/graphql/operation/query-coalescing.ts';
import { Operations } from '../../src/graphql/operation/operations.ts';
import { IdOrder } from '../../src/graphql/transport/id-order.ts';

const MEGABYTE = 1_048_576;
/** Of 64 bytes each: ten megabytes in memory, half a one as it is sent. */
const LARGE = Array.from({ length: 10 * 16_384 }, () => ({}));

/** Operations of a mutation that ends when it is told to. */
function open() {
  const ends: (() => void)[] = [];
  const args = { v: { type: new GraphQLScalarType({ name: 'Any' }) } };
  const resolve = (): Promise<string> => new Promise((end) => ends.push(() => end('done')));
  const fields = { keep: { type: GraphQLString, args, resolve } };
  const schema = new GraphQLSchema({
    query: new GraphQLObjectType({ name: 'Query', fields: { name: { type: GraphQLString } } }),
    mutation: new GraphQLObjectType({ name: 'Mutation', fields }),
  });
  const operations = new Operations(schema, new FairScheduler());
  const begin = async (tokenId: string, tenant: string, v: unknown): Promise<Executed> => {
    const context = new GraphqlContext({ tokenId, tenant } as Access, '', {} as never, {} as never);
    const request = { query: 'mutation ($v: Any) { keep(v: $v) }', variables: { v } };
    return operations.execute(await operations.admit(request, context));
  };
  return { ends, begin };
}

async function turnsOfTheLoop(count: number): Promise<null> {
  for (let at = 0; at < count; at += 1) await new Promise((resolve) => setImmediate(resolve));
  return null;
}

const codeOf = ({ result }: Executed): unknown =>
  (result.errors?.[0]?.originalError as AppError | undefined)?.code ?? null;

test('operations of a token that wait hold 64 MB of what they were given, those of a tenant 96, and little is never refused', async () => {
  const { ends, begin } = open();
  const running: Promise<Executed>[] = [];
  const refused: unknown[] = [];
  const send = async (tokenId: string, tenant: string, count: number, v: unknown): Promise<void> => {
    for (let at = 0; at < count; at += 1) {
      const one = begin(tokenId, tenant, v);
      // In a few turns of the event loop it is refused, or it waits.
      const first = await Promise.race([one, turnsOfTheLoop(20)]);
      if (first === null) running.push(one);
      else refused.push(codeOf(first));
    }
  };
  await send('one', 'tenant', 10, LARGE);
  expect(running).toHaveLength(6);
  expect(refused).toEqual(Array.from({ length: 4 }, () => 'OVERLOADED'));
  for (const token of ['two', 'three', 'four']) await send(token, 'tenant', 4, LARGE);
  expect(running).toHaveLength(9);
  // Neither another tenant, nor what is small.
  await send('other', 'another', 1, LARGE);
  await send('one', 'tenant', 1, [1]);
  expect(running).toHaveLength(11);
  for (let done = 0; done < running.length; done += 1) {
    await expect.poll(() => ends.length).toBeGreaterThan(done);
    ends[done]!();
  }
  expect((await Promise.all(running)).map(codeOf)).toEqual(running.map(() => null));
  // What they held is free again.
  running.length = 0;
  ends.length = 0;
  await send('one', 'tenant', 1, LARGE);
  expect(running).toHaveLength(1);
});

test('what was sent is gone through once, however often it is asked what it takes', async () => {
  const { begin, ends } = open();
  let looks = 0;
  const looked = {
    get name() {
      looks += 1;
      return 'a';
    },
  };
  const running = begin('one', 'tenant', [...LARGE, looked]);
  await expect.poll(() => ends.length).toBe(1);
  ends[0]!();
  expect(codeOf(await running)).toBeNull();
  expect(looks).toBe(1);
});

test('what waits for an operation of its id is held, too', async () => {
  let held = 0;
  const order = new IdOrder(
    () => true,
    () => {
      if (held === MEGABYTE) throw new AppError('OVERLOADED', 'too much');
      held += MEGABYTE;
      return () => (held -= MEGABYTE);
    },
  );
  let end = (): void => {};
  void order.pass({ id: 'a', type: 'subscribe' }, () => new Promise((resolve) => (end = resolve)));
  await order.pass({ id: 'a', type: 'complete' }, async () => {});
  const next = order.pass({ id: 'a', type: 'subscribe' }, async () => {});
  await expect(order.pass({ id: 'a', type: 'subscribe' }, async () => {})).rejects.toMatchObject({
    code: 'OVERLOADED',
  });
  expect(held).toBe(MEGABYTE);
  end();
  await next;
  expect(held).toBe(0);
});

test('of several that wait for the same end each is looked at again in the moment in which it is handed on', async () => {
  const order = new IdOrder(
    () => true,
    () => () => {},
  );
  const ends: (() => void)[] = [];
  const received: string[] = [];
  const running = (name: string) => () => {
    received.push(name);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const complete = async (): Promise<void> => void received.push('complete');
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  void order.pass({ id: 'a', type: 'subscribe' }, running('first'));
  void order.pass({ id: 'a', type: 'complete' }, complete);
  void order.pass({ id: 'a', type: 'subscribe' }, running('second'));
  void order.pass({ id: 'a', type: 'complete' }, complete);
  void order.pass({ id: 'a', type: 'subscribe' }, running('third'));
  await turn();
  ends[0]!();
  await turn();
  expect(received).toEqual(['first', 'complete', 'second', 'complete']);
  ends[1]!();
  await turn();
  expect(received.at(-1)).toBe('third');
});
