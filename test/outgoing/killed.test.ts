import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorkspaceWithRule } from '../support/alerting.ts';
import { Receiver } from '../support/receiver.ts';
import { createDatabase, startServer, type TestDatabase } from '../support/server.ts';
import type { ServerProcess } from '../support/server-process.ts';

const ENV = { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' };

let database: TestDatabase;
let receiver: Receiver;

beforeAll(async () => {
  database = await createDatabase('sqlite');
  receiver = await Receiver.start();
});
afterAll(async () => {
  receiver?.stop();
  await database?.drop();
});

test('an alert whose message was on its way when the server was killed is sent by the next one, with the same id', async () => {
  receiver.answer = () => {};
  const killed = await startServer({ database, env: ENV, alone: true });
  const { workspaceId, deviceId } = await createWorkspaceWithRule(killed);
  await killed.gql(
    `mutation ($w: ID, $url: String) {
       createEndpoint(workspaceId: $w, input: { name: "ops", kind: WEBHOOK, url: $url, events: ["alert.fired", "alert.resolved"] }) { secret }
     }`,
    { w: workspaceId, url: receiver.url },
  );
  await killed.record(deviceId, { field: 'temperature', value: 31 });
  await expect.poll(() => receiver.received.length).toBe(1);
  await killed.record(deviceId, { field: 'temperature', value: 20 });
  await (killed.process as ServerProcess).stop('SIGKILL');

  receiver.answer = (response) => response.writeHead(204).end();
  const next = await startServer({ database, env: ENV });
  await expect
    .poll(() => receiver.bodies.map(({ type }) => type))
    .toEqual(['alert.fired', 'alert.fired', 'alert.resolved']);
  const [first, second] = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(second).toBe(first);
  await next.stop();
});
