import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { callWebhook, historyOf } from '../decoders/webhook-client.ts';
import { createProduct, DATABASES, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { SteppedClock } from '../support/clock.ts';

const HOUR = 3_600_000;

/** A subscription and what it has pushed; `after`: where to go on. */
function subscribe(server: TestServer, query: string, variables: Record<string, unknown>, token = server.adminToken) {
  const client = createClient({
    url: `${server.url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { token },
    retryAttempts: 0,
    lazy: false,
    onNonLazyError: () => {},
  });
  const pushes: any[] = [];
  const closed = new Promise<unknown>((resolve) => client.on('closed', resolve));
  client.subscribe(
    { query, variables },
    { next: ({ data }) => pushes.push(Object.values(data ?? {})[0]), error: () => {}, complete: () => {} },
  );
  return { pushes, closed, end: () => client.dispose() };
}

const LIVE = `subscription ($d: [ID!], $after: String) {
  measurementsRecorded(deviceIds: $d, after: $after) { cursor measurements { value } }
}`;
const STATUS = 'subscription ($d: [ID!]) { deviceStatusChanged(deviceIds: $d) { online } }';
const valuesOf = (pushes: any[]): number[] =>
  pushes.flatMap(({ measurements }) => measurements.map(({ value }: { value: number }) => value));

describe.each(DATABASES)('a clock that is put forth and back, %s', (database) => {
  let clock: SteppedClock;
  let server: TestServer;
  beforeAll(async () => {
    clock = new SteppedClock();
    server = await startServer({ alone: true, database, env: clock.env });
  });
  afterAll(async () => {
    await server?.stop();
    clock.drop();
  });

  /** So many values of one sender, the next of 0, 1, 2, … each; times are the server's. */
  async function send(product: TestProduct, next: { value: number }, count: number): Promise<void> {
    for (let sent = 0; sent < count; sent += 1) {
      const answer = await server.record(product.deviceIds[0]!, [{ field: 'temperature', value: next.value }]);
      expect(answer.status).toBe(200);
      next.value += 1;
    }
  }

  test.each([
    // Less than the hour from which on the clock is believed.
    ['almost an hour forth and back', HOUR - 60_000],
    ['almost an hour back and forth', 60_000 - HOUR],
  ])('%s: receipt times go on, and live values reach everybody once', async (_, offset) => {
    const product = await createProduct(server);
    const live = subscribe(server, LIVE, { d: product.deviceIds });
    const next = { value: 0 };
    // Once it is there nothing is missed; what was sent before it was is not its.
    await expect
      .poll(async () => {
        await send(product, next, 1);
        return live.pushes.length;
      })
      .toBeGreaterThan(0);
    for (const step of [offset, 0, offset, 0]) {
      clock.step(step);
      await send(product, next, 12);
    }
    const history = await historyOf(server, product.deviceIds[0]!, 'temperature');
    expect(history.map(([, value]) => value)).toEqual(Array.from({ length: next.value }, (_value, index) => index));
    await expect.poll(() => valuesOf(live.pushes).at(-1)).toBe(next.value - 1);
    const got = valuesOf(live.pushes);
    expect(got).toEqual(Array.from({ length: got.length }, (_value, index) => got[0]! + index));
    // A cursor from the middle of it, under another time.
    clock.step(offset);
    const place = live.pushes.length >> 1;
    const resumed = subscribe(server, LIVE, { d: product.deviceIds, after: live.pushes[place].cursor });
    const rest = valuesOf(live.pushes.slice(place + 1));
    await expect.poll(() => valuesOf(resumed.pushes).length).toBe(rest.length);
    expect(valuesOf(resumed.pushes)).toEqual(rest);
    await send(product, next, 1);
    await expect.poll(() => valuesOf(resumed.pushes).at(-1)).toBe(next.value - 1);
    await Promise.all([live.end(), resumed.end()]);
    clock.step(0);
  });

  test('webhook calls within one millisecond, and under a clock that was put back, have times of their own', async () => {
    const decoder = 'function Decoder(r) { return [{ device: "serial-1", field: "temperature", value: +r.body }] }';
    const product = await createProduct(server, { input: { decoder } });
    for (const step of [0, -60_000, -HOUR, 0]) {
      clock.step(step);
      const calls = Array.from({ length: 10 }, (_, index) => callWebhook(server, product, { body: String(index) }));
      for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
    }
    expect(await historyOf(server, product.deviceIds[0]!, 'temperature')).toHaveLength(40);
    const { product: logged } = await server.gql(
      'query ($id: ID!) { product(id: $id) { calls(first: 500) { edges { node { id receivedAt } } } } }',
      { id: product.id },
    );
    const nodes = logged.calls.edges.map(({ node }: any) => node);
    expect(new Set(nodes.map(({ id }: any) => id)).size).toBe(40);
    expect(new Set(nodes.map(({ receivedAt }: any) => receivedAt)).size).toBe(40);
  });

  test('a token ends by the clock, on a WebSocket too; failed sign-ins are forgotten by real time', async () => {
    const product = await createProduct(server);
    const { workspaces } = await server.gql('{ workspaces { id } }');
    const { createToken } = await server.gql(
      'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret } }',
      {
        input: {
          name: 't',
          kind: 'INDIVIDUAL',
          workspaceId: workspaces[0].id,
          scopes: ['READ', 'RECORD'],
          expiresAt: new Date(clock.now + HOUR / 2).toISOString(),
        },
      },
    );
    const token = createToken.secret;
    const record = async (): Promise<number> =>
      (await server.record(product.deviceIds[0]!, { field: 'temperature', value: 1 }, { token })).status;
    const signIn = async (): Promise<string | undefined> => {
      const query = 'mutation ($p: String!) { signIn(email: "nobody@example.org", password: $p) { secret } }';
      // So long that it is wrong without being hashed, which takes a second each.
      return (await server.query(query, { p: 'x'.repeat(1_025) }, null)).errors?.[0]?.extensions.code;
    };
    while ((await signIn()) !== 'RATE_LIMITED');
    const live = subscribe(server, LIVE, { d: product.deviceIds }, token);
    await expect
      .poll(async () => {
        expect(await record()).toBe(200);
        return live.pushes.length;
      })
      .toBeGreaterThan(0);
    clock.step(HOUR);
    expect(await record()).toBe(401);
    expect(await live.closed).toMatchObject({ code: 4403 });
    expect(await signIn()).toBe('RATE_LIMITED');
    clock.step(0);
    expect(await record()).toBe(200);
  });

  test('a device that the step made silent is told so once, and that it is heard again', async () => {
    const product = await createProduct(server, { input: { offlineAfterSeconds: 1800 } });
    const next = { value: 0 };
    await send(product, next, 1);
    const status = subscribe(server, STATUS, { d: product.deviceIds });
    const live = subscribe(server, LIVE, { d: product.deviceIds });
    const online = (): boolean[] => status.pushes.map((push) => push.online);
    // Both are listening.
    await expect
      .poll(async () => {
        await send(product, next, 1);
        return live.pushes.length;
      })
      .toBeGreaterThan(0);
    clock.step(HOUR);
    await expect.poll(online).toEqual([false]);
    await send(product, next, 1);
    await expect.poll(online).toEqual([false, true]);
    clock.step(0);
    await send(product, next, 3);
    await expect.poll(() => valuesOf(live.pushes).at(-1)).toBe(next.value - 1);
    // Two looks of the watch later.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(online()).toEqual([false, true]);
    const { device } = await server.gql('query ($id: ID!) { device(id: $id) { online } }', {
      id: product.deviceIds[0],
    });
    expect(device.online).toBe(true);
    await Promise.all([status.end(), live.end()]);
  });

  test('nothing of it is an error', () => {
    expect(server.process.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

/** One end for each, and at night both for both. */
const ENDS = [
  { database: 'sqlite', year: '1970', start: Date.parse('1970-01-01T00:00:05Z') },
  { database: 'postgres', year: '9999', start: Date.parse('9999-12-31T20:00:00Z') },
  { database: 'sqlite', year: '9999', start: Date.parse('9999-12-31T20:00:00Z') },
  { database: 'postgres', year: '1970', start: Date.parse('1970-01-01T00:00:05Z') },
] as const;

describe('the ends of time', () => {
  test.each(process.env['INLET_TESTS'] === 'nightly' ? ENDS : ENDS.slice(0, 2))(
    'a machine that thinks it is $year serves, and goes on when it learns the time, $database',
    async ({ database, start }) => {
      const clock = new SteppedClock(start - Date.now());
      const server = await startServer({ alone: true, database, env: clock.env });
      try {
        const decoder = 'function Decoder(r) { return [{ device: "serial-1", field: "temperature", value: +r.body }] }';
        const product = await createProduct(server, { input: { decoder } });
        const [device] = product.deviceIds;
        expect((await server.record(device!, [{ field: 'temperature', value: 1 }])).status).toBe(200);
        // Of a call that is refused, as the machine is too busy for a decoder, nothing is stored.
        const call = (body: string) =>
          expect.poll(async () => (await callWebhook(server, product, { body })).status).toBe(200);
        await call('2');
        const all = 'from: "0001-01-01T00:00:00Z", to: "9999-12-31T23:59:59.999Z"';
        const read = async (): Promise<any> =>
          server.gql(
            `query ($d: ID!, $p: ID!) {
             device(id: $d) {
               online
               history(${all}) { values }
               buckets: history(${all}, resolution: "1y", timeZone: "Europe/Berlin") { values }
               measurements(field: "temperature") { edges { node { timestamp } } }
               statistics(${all}) { count }
             }
             product(id: $p) { calls { edges { node { receivedAt } } } }
             auditLog(from: "0001-01-01T00:00:00Z") { totalCount }
           }`,
            { d: device, p: product.id },
          );
        const before = await read();
        expect(before.device.history[0].values).toEqual([1, 2]);
        expect(before.device.online).toBe(true);
        expect(before.device.statistics[0].count).toBe(2);
        expect(before.product.calls.edges[0].node.receivedAt.slice(0, 4)).toBe(
          new Date(start).toISOString().slice(0, 4),
        );
        clock.step(0);
        expect((await server.record(device!, [{ field: 'temperature', value: 3 }])).status).toBe(200);
        await call('4');
        const after = await read();
        expect(after.device.history[0].values.toSorted()).toEqual([1, 2, 3, 4]);
        // The new ones have the new time, whichever way it went.
        const years = after.device.measurements.edges.map(({ node }: any) => node.timestamp.slice(0, 4));
        expect(years.filter((year: string) => year === new Date().toISOString().slice(0, 4))).toHaveLength(2);
        expect(server.process.lines.filter(({ level }) => level === 'error')).toEqual([]);
      } finally {
        await server.stop();
        clock.drop();
      }
    },
  );

  test.each(DATABASES)('entries at both ends are kept, what lies beyond is refused, %s', async (database) => {
    const server = await startServer({ database, env: { MAX_FUTURE_SECONDS: '10000000000' } });
    try {
      const [device] = (await createProduct(server)).deviceIds;
      const first = Date.UTC(2000, 0, 1) / 1000;
      const last = Math.floor(Date.now() / 1000) + 9_999_999_000;
      const entry = (timestamp: number) => ({ field: 'temperature', value: timestamp, timestamp });
      const { body } = await server.record(
        device!,
        [first, first + 0.001, last, first - 0.001, last + 2_000].map(entry),
      );
      expect(body.stored).toBe(3);
      expect(body.rejected.map(({ code }: any) => code)).toEqual(['INVALID_TIMESTAMP', 'TIMESTAMP_IN_FUTURE']);
      const { device: read } = await server.gql(
        `query ($id: ID!) {
           device(id: $id) { history(from: "1970-01-01T00:00:00Z", to: "9999-12-31T23:59:59.999Z") { timestamps values } }
         }`,
        { id: device },
      );
      expect(read.history[0]).toEqual({
        timestamps: [first, first + 0.001, last],
        values: [first, first + 0.001, last],
      });
    } finally {
      await server.stop();
    }
  });
});
