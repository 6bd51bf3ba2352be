import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Access } from '../../src/domain/access/access.ts';
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
  const operations = new Operations(createSchema(deps), 'none', shares);
  const query = `mutation { ${Array.from({ length: 12 }, (_, at) => `m${at}: deleteProduct(id: "x")`).join(' ')} }`;
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
