import { afterAll, beforeAll, expect, test } from 'vitest';
import { cursorKeyOf } from '../support/cursor-key.ts';
import { createDatabase, startServer, type TestDatabase, type TestServer } from '../support/server.ts';
import { fuzz } from './fuzz.ts';

let database: TestDatabase;
let server: TestServer;
beforeAll(async () => {
  database = await createDatabase('sqlite');
  server = await startServer({ alone: true, database, env: { ANONYMOUS_PER_MINUTE: '0', MQTT_PORT: '0' } });
});
afterAll(async () => {
  await server?.stop();
  await database.drop();
});

test('nothing that anyone sends is answered 500, stops or freezes the server, or is an error in its log', async () => {
  const cursorKey = await cursorKeyOf(database.url);
  const { findings, inputs, byKind } = await fuzz(server, {
    seed: 20_261_121,
    cursorKey,
    inputs: 3_000,
    withinMs: 150_000,
  });
  expect(findings).toEqual([]);
  for (const kind of ['cursor', 'mqtt']) expect(byKind[kind]).toBeGreaterThan(0);
  expect(inputs).toBeGreaterThan(300);
});
