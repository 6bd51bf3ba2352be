import { expect, test } from 'vitest';
import { createDatabase, startServer } from '../../support/server.ts';
import { BrokerWays } from './broker-ways.ts';
import { fill } from './fill.ts';
import { walk } from './walk.ts';
import { SMALL } from './world.ts';

test('everything that the schema has can be asked for many times, and is answered without an internal error', async () => {
  const database = await createDatabase('sqlite');
  const broker = await BrokerWays.start();
  const env = { ANONYMOUS_PER_MINUTE: '0', ...broker.env };
  const start = () => startServer({ database, env });
  const { server, world } = await fill(database.url, SMALL, start);
  try {
    await broker.send(server, world);
    const { findings, operations } = await walk(server, world, { withinMs: Infinity, short: true });
    expect(findings).toEqual([]);
    expect(operations).toBeGreaterThan(250);
  } finally {
    await server.stop();
    broker.stop();
    await database.drop();
  }
});
