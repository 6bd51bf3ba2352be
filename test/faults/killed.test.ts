import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createDatabase, createProduct, DATABASES, startServer, type TestDatabase } from '../support/server.ts';

const SENDERS = 20;

describe.each(DATABASES)('a server killed under load, on %s', (name) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase(name);
  });
  afterAll(() => database.drop());

  test('has every acknowledged entry after each of three kills', { timeout: 120_000 }, async () => {
    let server = await startServer({ database });
    const { deviceIds } = await createProduct(server, {
      fields: { a: 'FLOAT', b: 'STRING' },
      serialNumbers: Array.from({ length: SENDERS }, (_, at) => `kill-${at}`),
    });
    const acknowledged = deviceIds.map(() => [] as number[]);
    let second = 1_000;

    for (let kill = 1; kill <= 3; kill += 1) {
      const senders = deviceIds.map((id, at) => sendUntilDown(server.url, id, () => (second += 1), acknowledged[at]!));
      await new Promise((resolve) => setTimeout(resolve, 700));
      await server.process.stop('SIGKILL');
      await Promise.all(senders);
      server = await startServer({ database });
      for (const [at, id] of deviceIds.entries()) {
        const { device } = await server.gql(
          `query ($id: ID!) { device(id: $id) {
             history(from: "1970-01-01T00:00:00Z", to: "2020-01-01T00:00:00Z") { field { identifier } timestamps } } }`,
          { id },
        );
        for (const series of device.history) {
          const present = new Set(series.timestamps);
          const missing = acknowledged[at]!.filter((timestamp) => !present.has(timestamp));
          expect(missing, `field ${series.field.identifier} of device ${at} after kill ${kill}`).toEqual([]);
        }
      }
    }
    expect(acknowledged.flat().length).toBeGreaterThan(100);
    await server.stop();
  });
});

/** Posts one batch after another and notes the timestamp of each that was answered 200. */
async function sendUntilDown(url: string, id: string, next: () => number, acknowledged: number[]): Promise<void> {
  for (;;) {
    const timestamp = next();
    try {
      const response = await fetch(`${url}/v1/devices/${id}/record/`, {
        method: 'POST',
        headers: { Authorization: `Token ${ADMIN_TOKEN}` },
        body: JSON.stringify([
          { field: 'a', value: timestamp, timestamp },
          { field: 'b', value: `at ${timestamp}`, timestamp },
        ]),
      });
      if (response.status === 200) acknowledged.push(timestamp);
      await response.arrayBuffer();
    } catch {
      return;
    }
  }
}
