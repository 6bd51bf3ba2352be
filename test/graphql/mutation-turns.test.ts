import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Access } from '../../src/domain/access/access.ts';
import type { AppError } from '../../src/errors.ts';
import { FairScheduler } from '../../src/scheduling/fair-scheduler.ts';
import { GraphqlContext } from '../../src/graphql/context/graphql-context.ts';
import { Operations } from '../../src/graphql/operation/operations.ts';
import type { ResolverDeps } from '../../src/graphql/resolvers/resolvers.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { pass } from '../support/turned-clock.ts';

beforeEach(
  () =>
    void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] }),
);
afterEach(() => void vi.useRealTimers());

test('many mutations in one document wait for their turn again when their caller has used its share', async () => {
  const caller = { tokenId: 'many', tenant: 'many' };
  const shares = new FairScheduler();
  let done = 0;
  const run = async (): Promise<string> => {
    done += 1;
    // Used otherwise while the first of them goes on: 500 ms over what is free, of three tenths of the time.
    if (done === 1) shares.spend(caller, 550);
    return 'deleted';
  };
  const deps = new Proxy({}, { get: (_, name) => (name === 'auditLog' ? { run } : {}) }) as ResolverDeps;
  const operations = new Operations(createSchema(deps), shares);
  const query = `mutation { ${Array.from({ length: 12 }, (_, at) => `m${at}: deleteProduct(id: "x${at}")`).join(' ')} }`;
  const context = new GraphqlContext(caller as Access, '', {} as never, {} as never);
  shares.noteOtherTraffic();
  const others = setInterval(() => shares.noteOtherTraffic(), 20);
  const running = operations.execute(await operations.admit({ query }, context));
  await pass(1_500);
  expect(done).toBe(1);
  await pass(10_000);
  clearInterval(others);
  expect((await running).result.errors).toBeUndefined();
  expect(done).toBe(12);
});

/** Mutations that never end; `ends`: of those that have begun. */
function openMutations() {
  const ends: (() => void)[] = [];
  const run = (): Promise<string> => new Promise((end) => ends.push(() => end('deleted')));
  const deps = new Proxy({}, { get: (_, name) => (name === 'auditLog' ? { run } : {}) }) as ResolverDeps;
  const operations = new Operations(createSchema(deps), new FairScheduler());
  const ask = async (context: GraphqlContext, query: string): Promise<unknown> => {
    const { result } = await operations.execute(await operations.admit({ query }, context));
    return (result.errors?.[0]?.originalError as AppError | undefined)?.code ?? result.data;
  };
  return { ends, ask };
}

test('of a token so many mutations may be under way, whether anybody still waits for them or not', async () => {
  const { ends, ask } = openMutations();
  const remove = (tokenId: string): Promise<unknown> =>
    ask(
      new GraphqlContext(
        { tokenId, tenant: 'tenant', requireOperation: () => {} } as never,
        '',
        {} as never,
        {} as never,
      ),
      'mutation { deleteProduct(id: "x") }',
    );
  const all = Array.from({ length: 200 }, () => remove('one'));
  await expect.poll(() => ends.length).toBe(200);
  expect(await remove('one')).toBe('OVERLOADED');
  all.push(remove('another'));
  await expect.poll(() => ends.length).toBe(201);
  for (const end of ends) end();
  for (const answer of await Promise.all(all)) expect(answer).toEqual({ deleteProduct: 'deleted' });
});

test('of strangers, who sign in, all are heard', async () => {
  const { ends, ask } = openMutations();
  const signIn = 'mutation { signIn(email: "a@b.c", password: "x") { secret } }';
  for (let at = 0; at < 250; at += 1)
    void ask(new GraphqlContext('missing', `${at}`, {} as never, {} as never), signIn);
  await expect.poll(() => ends.length).toBe(250);
});
