import { expect, test } from 'vitest';
import type { Access } from '../../src/domain/access/access.ts';
import { GraphqlContext } from '../../src/graphql/context/graphql-context.ts';
import { Operations } from '../../src/graphql/operation/operations.ts';
import type { ResolverDeps } from '../../src/graphql/resolvers/resolvers.ts';
import { MeasurementsResolver } from '../../src/graphql/resolvers/measurements-resolver.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { FairScheduler } from '../../src/scheduling/fair-scheduler.ts';
import { countTurns } from '../support/loop-turns.ts';

test('between the mutations of a document others have a turn of the event loop; one alone does not wait', async () => {
  const loop = countTurns();
  const turns: number[] = [];
  // A mutation that waits for nothing, as on SQLite.
  const auditLog = {
    run: async () => {
      turns.push(loop.turns);
      return 'deleted';
    },
  };
  const deps = new Proxy({}, { get: (_, name) => (name === 'auditLog' ? auditLog : {}) }) as ResolverDeps;
  const operations = new Operations(createSchema(deps), new FairScheduler());
  const run = async (count: number): Promise<number[]> => {
    turns.length = 0;
    const fields = Array.from({ length: count }, (_, at) => `m${at}: deleteProduct(id: "x${at}")`);
    const context = new GraphqlContext({ tokenId: 't', tenant: 't' } as Access, '', {} as never, {} as never);
    const admitted = await operations.admit({ query: `mutation { ${fields.join(' ')} __typename }` }, context);
    const before = loop.turns;
    const { result } = await operations.execute(admitted);
    expect(result.errors).toBeUndefined();
    return turns.map((turn) => turn - before);
  };
  try {
    expect(await run(1)).toEqual([0]);
    const [first, ...others] = await run(20);
    expect(first).toBe(0);
    expect(new Set(others).size).toBe(19);
  } finally {
    loop.stop();
  }
});

test('many entries are judged in another turn of the event loop than they are read in', async () => {
  const loop = countTurns();
  const device = { key: 1, id: 'd', product: { fields: new Map() } };
  const recorder = { record: async () => ({ stored: loop.turns, rejected: [] }) };
  const deps = { ingestCache: { device: async () => device }, recorder, now: () => 0 };
  const resolver = new MeasurementsResolver(deps as never);
  const context = new GraphqlContext({ fields: null, requireDevice: () => {} } as never, '', {} as never, {} as never);
  const turnsOf = async (count: number): Promise<number> => {
    const before = loop.turns;
    const entries = Array.from({ length: count }, () => ({ field: 'f', value: 1 }));
    return (await resolver.recordMeasurements(context, 'd', entries)).stored - before;
  };
  try {
    expect([await turnsOf(1), await turnsOf(10_000)]).toEqual([0, 1]);
  } finally {
    loop.stop();
  }
});
