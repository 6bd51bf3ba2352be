import mqtt from 'mqtt';
import { expect, test } from 'vitest';
import { portsOf, storedIn } from '../support/mqtt-door.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createDatabase, createProduct, EITHER_DATABASE, startServer } from '../support/server.ts';

const CLIENTS = 10;
const AT_ONCE = 20;
const KILLS = Number(process.env['MQTT_KILLS'] ?? 2);

test.each(EITHER_DATABASE)(
  'after each kill under load everything is there that MQTT has acknowledged, on %s',
  async (name) => {
    const database = await createDatabase(name);
    const env = { MQTT_PORT: '0' };
    let server = await startServer({ alone: true, database, env });
    const { deviceIds } = await createProduct(server, {
      fields: { N: 'INTEGER' },
      serialNumbers: Array.from({ length: CLIENTS }, (_, at) => `kill-${at}`),
    });
    const acknowledged = deviceIds.map(() => [] as number[]);
    let count = 0;
    const next = (): number => (count += 1);

    for (let kill = 1; kill <= KILLS; kill += 1) {
      const { port } = portsOf(server);
      const clients = deviceIds.map(async (id, at) =>
        sendWhileUp(port, `v1/${id}/record`, at % 2 === 0 ? 1 : 2, next, acknowledged[at]!),
      );
      await expect.poll(() => acknowledged.flat().length).toBeGreaterThan(400 * kill);
      await server.process.stop('SIGKILL');
      await Promise.all(clients);
      // The last one is not killed.
      server = await startServer({ alone: kill < KILLS, database, env });
      for (const [at, id] of deviceIds.entries()) {
        const there = new Set(await storedIn(server, id));
        expect(
          acknowledged[at]!.filter((n) => !there.has(n)),
          `device ${at} after kill ${kill}`,
        ).toEqual([]);
      }
    }
    await server.stop();
    await database.drop();
  },
);

/** Publishes with many on their way until the server is gone, and notes each that was acknowledged. */
async function sendWhileUp(
  port: number,
  topic: string,
  qos: 1 | 2,
  next: () => number,
  acknowledged: number[],
): Promise<void> {
  const client = mqtt.connect(`mqtt://127.0.0.1:${port}`, {
    protocolVersion: 5,
    username: 'x',
    password: ADMIN_TOKEN,
    reconnectPeriod: 0,
  });
  client.on('error', () => {});
  const send = (): void => {
    const value = next();
    const entry = JSON.stringify({ field: 'N', value, timestamp: 1_700_000_000 + value });
    client.publish(topic, entry, { qos }, (error) => {
      if (error) return;
      acknowledged.push(value);
      if (client.connected) send();
    });
  };
  client.on('connect', () => {
    for (let at = 0; at < AT_ONCE; at += 1) send();
  });
  await new Promise<void>((resolve) => void client.once('close', () => resolve()));
  client.end(true);
}
