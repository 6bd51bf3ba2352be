import { expect, inject, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { RoundRobinProxy } from '../support/round-robin-proxy.ts';
import { createDatabase, createProduct, startServer, type TestServer } from '../support/server.ts';

test.skipIf(inject('redisUrl') === null)(
  'a rolling restart of two nodes behind a proxy with health checks loses no request',
  async () => {
    const database = await createDatabase('postgres');
    const ports = [await freePort(), await freePort()];
    const start = (at: number): Promise<TestServer> =>
      startServer({
        alone: true,
        database,
        env: { REDIS_URL: inject('redisUrl')!, PORT: String(ports[at]), SHUTDOWN_GRACE_MS: '2500' },
      });
    const nodes = await Promise.all([start(0), start(1)]);
    const { deviceIds } = await createProduct(nodes[0]!);
    const proxy = await RoundRobinProxy.start(
      nodes.map(({ url }) => url),
      200,
    );

    const answers = new Map<string, number>();
    const sending = { on: true };
    const send = async (path: string, body: () => unknown): Promise<void> => {
      while (sending.on) {
        // A hundred or two a second in all are as good as thousands: each moment has some on their way.
        await new Promise((resolve) => setTimeout(resolve, 40));
        const headers = { Authorization: `Token ${nodes[0]!.adminToken}`, 'Content-Type': 'application/json' };
        const response = await fetch(`${proxy.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body()) });
        const text = await response.text();
        const outcome =
          response.status === 200 && !text.includes('"errors"') ? 'fine' : `${response.status} ${text.slice(0, 200)}`;
        answers.set(outcome, (answers.get(outcome) ?? 0) + 1);
      }
    };
    const senders = [
      ...Array.from({ length: 8 }, () =>
        send(`/v1/devices/${deviceIds[0]}/record/`, () => ({ field: 'temperature', value: 1 })),
      ),
      ...Array.from({ length: 2 }, () => send('/graphql', () => ({ query: '{ products { edges { node { id } } } }' }))),
    ];
    const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1_000));
    for (const at of [0, 1]) {
      await pause();
      expect(await nodes[at]!.process.stop('SIGTERM')).toBe(0);
      nodes[at] = await start(at);
      // As whoever restarts nodes in turn does: until the proxy has it back.
      await pause();
    }
    sending.on = false;
    await Promise.all(senders);
    await proxy.stop();
    await Promise.all(nodes.map((node) => node.stop()));
    await database.drop();
    expect([...answers.keys()]).toEqual(['fine']);
    expect(answers.get('fine')).toBeGreaterThan(100);
  },
);
