import { expect, inject, test } from 'vitest';
import { LANES } from '../../src/scheduling/lanes.ts';
import { programVersion } from '../../src/program-file.ts';
import { createDatabase, startServer } from '../support/server.ts';

const LOOK = `{ installation {
  version database nodes workers workersUp redisConnected replicas { name }
  valuesWaiting decoderCallsWaiting deliveriesWaiting lanes { name waiting refused }
} }`;

test('an operator sees how the server is in one place', async () => {
  const server = await startServer({ database: 'sqlite' });
  const { installation } = await server.gql(LOOK);
  expect(installation).toMatchObject({
    version: programVersion(),
    database: 'sqlite',
    nodes: 1,
    workers: 1,
    workersUp: 1,
    redisConnected: null,
    replicas: [],
    valuesWaiting: 0,
    decoderCallsWaiting: 0,
    deliveriesWaiting: 0,
  });
  expect(installation.lanes.map(({ name }: { name: string }) => name)).toEqual(Object.keys(LANES));
  await server.stop();
});

test.skipIf(inject('redisUrl') === null)('nodes are counted, and Redis is looked at', async () => {
  const database = await createDatabase('postgres');
  const env = { REDIS_URL: inject('redisUrl')! };
  const [one, other] = await Promise.all([startServer({ database, env }), startServer({ database, env, alone: true })]);
  const { installation } = await one.gql(LOOK);
  expect(installation).toMatchObject({ database: 'postgres', nodes: 2, workersUp: 1, redisConnected: true });
  await other.stop();
  await expect.poll(async () => (await one.gql(LOOK)).installation.nodes).toBe(1);
  await one.stop();
  await database.drop();
});
