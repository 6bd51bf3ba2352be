import { createClient } from 'graphql-ws';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { describeWithPatroni, PatroniCluster } from '../support/patroni.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

const KILLS = process.env['INLET_TESTS'] === 'nightly' ? 20 : 2;
const NAME = 'loses nothing that was acknowledged, and tells every value live, whichever server dies under load';
const SENDERS = 8;
const FIRST = 1_700_000_000;
const LIVE = `subscription ($d: [ID!], $after: String) {
  measurementsRecorded(deviceIds: $d, after: $after) { cursor device { id } measurements { value } }
}`;

describeWithPatroni('a standby that takes over', () => {
  test(NAME, { timeout: KILLS * 150_000 }, async () => {
    const cluster = await PatroniCluster.start();
    onTestFinished(() => cluster.stop());
    const database = { url: cluster.url, drop: async () => {} };
    const server = await startServer({ alone: true, database });
    onTestFinished(() => server.stop());
    const serialNumbers = Array.from({ length: SENDERS }, (_, at) => `standby-${at}`);
    const { deviceIds } = await createProduct(server, { fields: { a: 'INTEGER' }, serialNumbers });
    const follower = follow(server, deviceIds);
    const load = { isOver: false };
    const sending = deviceIds.map((id) => send(server, id, load));
    const acknowledged = (): number => sending.reduce((sum, { sent }) => sum + sent.length, 0);
    const pausesMs: number[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      await cluster.whole();
      const before = acknowledged();
      await expect.poll(acknowledged).toBeGreaterThan(before + 50);
      const writer = await cluster.writer();
      const from = performance.now();
      cluster.kill(writer!);
      await expect.poll(() => cluster.writer(), { interval: 100 }).not.toBe(writer);
      const atKill = acknowledged();
      await expect.poll(acknowledged, { interval: 50 }).toBeGreaterThan(atKill + 20);
      pausesMs.push(Math.round(performance.now() - from));
      cluster.begin(writer!);
      // Whoever follows is told of what comes from now on.
      const later = sending[0]!.sent.length;
      await expect.poll(() => sending[0]!.sent.slice(later).some((value) => follower.got.has(`0 ${value}`))).toBe(true);
      await expect.poll(() => follower.hasGap()).toBe(false);
    }
    load.isOver = true;
    await Promise.all(sending.map(({ ended }) => ended));
    console.log(`recording went on after ${pausesMs.join(', ')} ms`);
    const stored = await historyOf(server, deviceIds);
    for (const [at, id] of deviceIds.entries()) {
      const present = new Set(stored.get(id));
      expect(
        sending[at]!.sent.filter((value) => !present.has(value)),
        `device ${at}`,
      ).toEqual([]);
    }
    const all = sending.flatMap(({ sent }, at) => sent.map((value) => `${at} ${value}`));
    const missed = (): string[] => all.filter((one) => !follower.got.has(one));
    await expect.poll(() => missed().slice(0, 5)).toEqual([]);
    await follower.end();
  });
});

/** Records one value after the other, each until it is acknowledged, whose numbers `sent` has. */
function send(server: TestServer, id: string, load: { isOver: boolean }): { sent: number[]; ended: Promise<void> } {
  const sent: number[] = [];
  const body = (value: number): string => JSON.stringify([{ field: 'a', value, timestamp: FIRST + value }]);
  const run = async (): Promise<void> => {
    for (let value = 0; !load.isOver; value += 1) {
      const answer = await fetch(`${server.url}/v1/devices/${id}/record/`, {
        method: 'POST',
        headers: { Authorization: `Token ${ADMIN_TOKEN}` },
        body: body(value),
      }).catch(() => null);
      await answer?.arrayBuffer();
      if (answer?.status === 200) sent.push(value);
      await sleep(answer?.status === 200 ? 10 : 100);
    }
  };
  return { sent, ended: run() };
}

/**
 * Follows values live, going on with the last cursor whenever the subscription ends. A cursor of the server that is gone
 * has expired: then it goes on without one, and reads what came in between, as CURSOR_EXPIRED says.
 */
function follow(
  server: TestServer,
  deviceIds: string[],
): { got: Set<string>; hasGap: () => boolean; end: () => Promise<void> } {
  const got = new Set<string>();
  const take = (id: string, value: number): void => void got.add(`${deviceIds.indexOf(id)} ${value}`);
  const state = { after: null as string | null, hasGap: false, isOver: false };
  const client = createClient({
    url: `${server.url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { token: ADMIN_TOKEN },
    retryAttempts: Infinity,
    shouldRetry: () => true,
  });
  let filling: Promise<void> | null = null;
  /** Asks again until it is answered: the database may be away. */
  const fillGap = async (): Promise<void> => {
    // The next one may begin meanwhile.
    state.hasGap = false;
    const found = await historyOf(server, deviceIds).catch(() => null);
    if (found === null) {
      state.hasGap = true;
      await sleep(500);
      return state.isOver ? undefined : fillGap();
    }
    for (const [id, values] of found) for (const value of values) take(id, value);
  };
  const listen = (): void => {
    const note = (errors: unknown): void => {
      if (JSON.stringify(errors).includes('CURSOR_EXPIRED')) Object.assign(state, { after: null, hasGap: true });
    };
    const again = (): void => {
      if (!state.isOver) setTimeout(listen, 200);
    };
    client.subscribe(
      { query: LIVE, variables: { d: deviceIds, after: state.after } },
      {
        next: ({ data, errors }: any) => {
          if (errors !== undefined) return note(errors);
          const { cursor, device, measurements } = data.measurementsRecorded;
          state.after = cursor;
          for (const { value } of measurements) take(device.id, value);
          // What comes from here on is pushed.
          if (state.hasGap) filling ??= fillGap().finally(() => (filling = null));
        },
        error: (errors) => {
          note(errors);
          again();
        },
        complete: again,
      },
    );
  };
  listen();
  return {
    got,
    hasGap: () => state.hasGap || filling !== null,
    end: async () => {
      state.isOver = true;
      await client.dispose();
    },
  };
}

/** The values of each device. */
async function historyOf(server: TestServer, deviceIds: string[]): Promise<Map<string, number[]>> {
  const { history } = await server.gql(
    `query ($ids: [ID!]) {
       history(deviceIds: $ids, from: "1970-01-01T00:00:00Z", to: "2030-01-01T00:00:00Z") {
         device { id } series { values } } }`,
    { ids: deviceIds },
  );
  return new Map(history.map(({ device, series }: any) => [device.id, series[0]?.values ?? []]));
}
