import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { generateLoad, postRequest } from '../bench/generator.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';
import { eventLoopTime } from '../support/processor-time.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createToken } from '../support/tenant.ts';

/** As dear as it gets: refused with a little more. */
const DEAR = `query ($p: ID!) { devices(productId: $p, first: 300) { edges { node {
  id name serialNumber tags online lastHeardAt product { id name fields { id identifier type unit } }
  latest { timestamp value field { identifier type unit } }
} } } }`;
const FIELDS = Array.from({ length: 10 }, (_, at) => `field_${at}`);

let server: TestServer;
let productId: string;
let deviceId: string;
let attacker: string;
let other: string;

beforeAll(async () => {
  server = await startServer({ database: 'sqlite', env: { GRAPHQL_COMPILE: 'seen' } });
  const product = await createProduct(server, {
    fields: Object.fromEntries(FIELDS.map((field) => [field, 'FLOAT'])),
    serialNumbers: Array.from({ length: 300 }, (_, at) => `serial-${at}`),
  });
  productId = product.id;
  deviceId = product.deviceIds[0] as string;
  const values = FIELDS.map((field, at) => ({ field, value: at, timestamp: 1_767_225_600 }));
  for (const id of product.deviceIds) await server.record(id, values);
  const { workspaces } = await server.gql('{ workspaces { id } }');
  attacker = (await createToken(server, ADMIN_TOKEN, workspaces[0].id, ['READ'])).secret;
  other = (await createToken(server, ADMIN_TOKEN, workspaces[0].id, ['READ'])).secret;
}, 120_000);

afterAll(async () => {
  await server?.stop();
});

interface Turn {
  requests: number;
  p99Ms: number;
  /** For how long the server's event loop ran, and for how long the machine would have let it. */
  ranMs: number;
  hadMs: number;
}

async function turn(request: Buffer, connections: number): Promise<Turn> {
  const pid = server.process.child.pid!;
  const [before, from] = [eventLoopTime(pid), performance.now()];
  const load = { port: server.process.port, connections, seconds: 1, next: () => request };
  const { requests, failed, p99Ms } = await generateLoad(load);
  const after = eventLoopTime(pid);
  expect(failed).toBeLessThanOrEqual(requests / 100);
  const waitedMs = after.waitedMs - before.waitedMs;
  return { requests, p99Ms, ranMs: after.ranMs - before.ranMs, hadMs: performance.now() - from - waitedMs };
}

const recording = (): Promise<Turn> => {
  const headers = ['Content-Type: application/json', `Authorization: Token ${ADMIN_TOKEN}`];
  return turn(postRequest(`/v1/devices/${deviceId}/record/`, headers, '[{"field":"field_0","value":1}]'), 10);
};

const asking = (): Promise<Turn> => {
  const headers = ['Content-Type: application/json', `Authorization: Token ${other}`];
  const body = JSON.stringify({ query: '{ products(first: 1) { edges { node { name } } } }' });
  return turn(postRequest('/graphql', headers, body), 4);
};

/** Less than this is nothing that anybody feels. */
const SHORT_MS = 25;

/**
 * What the victim keeps while it is attacked. `share`: of the event loop, all but what goes beyond the victim's own
 * requests at what these cost alone just before and after; time for which the machine had no processor counts for
 * nobody, so it does not matter what else runs on it; the median. `slower`: how many times as long its slowest hundredth
 * takes as alone; the best of up to four tries, as a busy machine only ever adds.
 */
async function kept(
  victim: () => Promise<Turn>,
  attack: () => Promise<() => Promise<void>>,
): Promise<{ share: number; slower: number }> {
  const shares: number[] = [];
  let slower = Infinity;
  await victim();
  let before = await victim();
  while (shares.length < 3 || (shares.length < 4 && slower > 4)) {
    const stop = await attack();
    const during = await victim();
    await stop();
    const after = await victim();
    const costMs = (before.ranMs + after.ranMs) / (before.requests + after.requests);
    const takenMs = during.ranMs - during.requests * costMs;
    shares.push(1 - takenMs / during.hadMs);
    slower = Math.min(slower, during.p99Ms / Math.max(SHORT_MS, (before.p99Ms + after.p99Ms) / 2));
    before = after;
  }
  return { share: shares.toSorted((a, b) => a - b)[1]!, slower };
}

/** Eight dear queries at a time, each with a text of its own so that nothing is remembered. */
async function dearQueries(): Promise<() => Promise<void>> {
  const attack = new AbortController();
  let number = 0;
  let answered = 0;
  const loops = Array.from({ length: 8 }, async () => {
    while (!attack.signal.aborted) {
      number += 1;
      const query = DEAR.replace('query ', `query Q${number} `);
      const { errors } = await server.query(query, { p: productId }, attacker);
      expect(errors).toBeUndefined();
      answered += 1;
    }
  });
  return async () => {
    attack.abort();
    await Promise.all(loops);
    // It is slowed down, not starved.
    expect(answered).toBeGreaterThan(0);
  };
}

/** Twenty dear subscriptions on one socket, to a device that is written all the time. */
async function dearSubscriptions(): Promise<() => Promise<void>> {
  const client = createClient({
    url: `${server.url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { token: attacker },
    retryAttempts: 0,
  });
  const fields = Array.from({ length: 100 }, (_, at) => `a${at}: latest { timestamp value field { identifier unit } }`);
  const query = `subscription ($d: [ID!]) { measurementsRecorded(deviceIds: $d) { cursor device { ${fields.join(' ')} } } }`;
  for (let at = 0; at < 20; at += 1)
    client.subscribe({ query, variables: { d: [deviceId] } }, { next: () => {}, error: () => {}, complete: () => {} });
  await new Promise((resolve) => setTimeout(resolve, 300));
  return async () => client.dispose();
}

/** Twenty who guess passwords. */
async function guesses(): Promise<() => Promise<void>> {
  const attack = new AbortController();
  let number = 0;
  const loops = Array.from({ length: 20 }, async () => {
    while (!attack.signal.aborted) {
      number += 1;
      const query = 'mutation ($e: String!) { signIn(email: $e, password: "12345678") { secret } }';
      await server.query(query, { e: `nobody${number}@example.org` }, null);
    }
  });
  return async () => {
    attack.abort();
    await Promise.all(loops);
  };
}

const UNHARMED = {
  share: expect.toSatisfy((share: number) => share > 0.7),
  slower: expect.toSatisfy((times: number) => times <= 4),
};

test('eight dear queries at a time of one token leave recording 0.7 of its throughput, and its p99', async () => {
  expect(await kept(recording, dearQueries)).toEqual(UNHARMED);
}, 120_000);

test('… and another token too', async () => {
  expect(await kept(asking, dearQueries)).toEqual(UNHARMED);
}, 120_000);

test('so do twenty dear subscriptions on one socket', async () => {
  expect(await kept(recording, dearSubscriptions)).toEqual(UNHARMED);
}, 120_000);

test('so do twenty who guess passwords', async () => {
  expect(await kept(recording, guesses)).toEqual(UNHARMED);
}, 120_000);
