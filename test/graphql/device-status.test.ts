import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import {
  createDatabase,
  createProduct,
  EITHER_DATABASE,
  startServer,
  type TestDatabase,
  type TestServer,
} from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { listening } from '../support/subscribe.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';

const STATUS = `subscription ($d: [ID!], $p: ID, $w: ID) {
  deviceStatusChanged(deviceIds: $d, productId: $p, workspaceId: $w) { online at device { id name } }
}`;

/** A subscription whose pushes pile up; `until` waits for so many of them. */
class Pushes {
  readonly got: any[] = [];
  isOver = false;
  readonly #client: Client;
  #wake = (): void => {};

  constructor(url: string, token: string, query: string, variables: Record<string, unknown>) {
    this.#client = createClient({
      url: `${url.replace(/^http/, 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { token },
      retryAttempts: 0,
    });
    this.#client.subscribe(
      { query, variables },
      {
        next: (push) => {
          this.got.push(push.errors ?? Object.values(push.data ?? {})[0]);
          this.#wake();
        },
        error: (error) => {
          this.got.push(error);
          this.#wake();
        },
        complete: () => {},
      },
    );
  }

  async until(count: number): Promise<any[]> {
    while (this.got.length < count) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.got;
  }

  /** Resolves when the server has answered something that it was asked after the subscription. */
  async begun(): Promise<void> {
    await new Promise<unknown>((resolve, reject) =>
      this.#client.subscribe({ query: '{ __typename }' }, { next: resolve, error: reject, complete: () => {} }),
    );
  }

  async end(): Promise<void> {
    this.isOver = true;
    await this.#client.dispose();
  }
}

// They mostly wait, each with a product of its own: side by side, but for the one that restarts the server.
describe.each(EITHER_DATABASE)('deviceStatusChanged on %s', (database) => {
  let kept: TestDatabase;
  let server: TestServer;
  let workspaceId: string;
  let token: string;
  const open: Pushes[] = [];

  beforeAll(async () => {
    kept = await createDatabase(database);
    server = await startServer({ database: kept });
    workspaceId = await createWorkspace(server, 'status');
    ({ token } = await createMember(server, workspaceId, 'ADMIN'));
  });

  afterAll(async () => {
    await server?.stop();
    await kept?.drop();
  });

  const product = (serialNumbers: string[], offlineAfterSeconds: number | null) =>
    createProduct(server, { token, serialNumbers, input: { offlineAfterSeconds } });
  const limit = (id: string, s: number | null) =>
    server.gql(
      'mutation ($id: ID!, $s: Int) { updateDevice(id: $id, input: { offlineAfterSeconds: $s }) { id } }',
      { id, s },
      token,
    );
  const record = (id: string) => server.record(id, [{ field: 'temperature', value: 1 }], { token });
  const heardAt = async (id: string): Promise<number> =>
    Date.parse(
      (await server.gql('query ($id: ID!) { device(id: $id) { lastHeardAt } }', { id }, token)).device.lastHeardAt,
    );
  /** Subscribed for sure: what changes from now on is told. */
  const subscribed = async (variables: Record<string, unknown>, as = token): Promise<Pushes> => {
    const pushes = new Pushes(server.url, as, STATUS, variables);
    open.push(pushes);
    await pushes.begun();
    const others = open.filter(({ isOver }) => !isOver).length;
    // What is refused is told.
    await Promise.race([listening(server.url, ADMIN_TOKEN, others), pushes.until(1)]);
    return pushes;
  };

  test.concurrent('fires once when a device is heard for the first time, goes silent, and is heard again', async () => {
    const { id, deviceIds } = await product(['quick', 'never'], 10);
    const [device] = deviceIds as [string];
    const pushes = await subscribed({ p: id });
    await record(device);
    await record(device);
    const first = await heardAt(device);
    await pushes.until(2);
    await record(device);
    const got = await pushes.until(3);
    await pushes.end();
    expect(got.map(({ online }) => online)).toEqual([true, false, true]);
    expect(got.every((push) => push.device.id === device)).toBe(true);
    const silentAt = Date.parse(got[1].at);
    expect(silentAt).toBeGreaterThanOrEqual(first + 9_900);
    expect(silentAt).toBeLessThanOrEqual(first + 10_100);
  });

  test.concurrent('what is brought in from a file is no sign of life', async () => {
    const { id, deviceIds } = await product(['imported', 'silent', 'alive'], 1);
    const [imported, silent, alive] = deviceIds as [string, string, string];
    await record(silent);
    const before = await heardAt(silent);
    const isOnline = async (): Promise<boolean> =>
      (await server.gql('query ($id: ID!) { device(id: $id) { online } }', { id: silent }, token)).device.online;
    while (await isOnline()) await new Promise((resolve) => setTimeout(resolve, 50));
    const pushes = await subscribed({ p: id });
    for (const device of [imported, silent]) {
      const answer = await fetch(`${server.url}/v1/devices/${device}/import`, {
        method: 'POST',
        headers: { Authorization: `Token ${token}`, 'Content-Type': 'text/csv' },
        body: `timestamp,temperature\n2020-01-01,1\n${new Date().toISOString()},2\n`,
      });
      expect(await answer.json()).toMatchObject({ values: 2 });
    }
    const { devices } = await server.gql(
      'query ($id: ID!) { devices(productId: $id, online: false) { edges { node { id lastHeardAt online latest { value } } } } }',
      { id },
      token,
    );
    expect(devices.edges.map(({ node }: any) => node)).toEqual([
      { id: imported, lastHeardAt: null, online: false, latest: [{ value: 2 }] },
      { id: silent, lastHeardAt: new Date(before).toISOString(), online: false, latest: [{ value: 2 }] },
      { id: alive, lastHeardAt: null, online: false, latest: [] },
    ]);
    await limit(alive, 60);
    await record(alive);
    const [first] = await pushes.until(1);
    await pushes.end();
    expect(first).toMatchObject({ online: true, device: { id: alive } });
  });

  test.concurrent("a device's own limit counts, and a changed one at once", async () => {
    const { id, deviceIds } = await product(['own'], null);
    const [device] = deviceIds as [string];
    await record(device);
    const pushes = await subscribed({ d: [device] });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await limit(device, 1);
    expect((await pushes.until(1))[0]).toMatchObject({ online: false, device: { id: device } });
    await limit(device, null);
    expect((await pushes.until(2))[1]).toMatchObject({ online: true });
    await server.gql(
      'mutation ($id: ID!) { updateProduct(id: $id, input: { offlineAfterSeconds: 1 }) { id } }',
      { id },
      token,
    );
    expect((await pushes.until(3))[2]).toMatchObject({ online: false });
    await pushes.end();
  });

  test.concurrent('a device made while somebody subscribes is watched, a deleted one is not', async () => {
    const { id, deviceIds } = await product(['gone'], 10);
    await record(deviceIds[0]!);
    const pushes = await subscribed({ p: id });
    await server.gql('mutation ($ids: [ID!]!) { deleteDevices(ids: $ids) }', { ids: deviceIds }, token);
    const { createDevices } = await server.gql(
      'mutation ($p: ID!) { createDevices(productId: $p, devices: [{ name: "new" }], plan: "unlimited") { id } }',
      { p: id },
      token,
    );
    await record(createDevices[0].id);
    const told = (): [boolean, string][] => pushes.got.map(({ online, device }) => [online, device.name]);
    while (!told().some(([online, name]) => !online && name === 'new')) await pushes.until(pushes.got.length + 1);
    await pushes.end();
    expect(told()).toEqual([
      [true, 'new'],
      [false, 'new'],
    ]);
  });

  test.concurrent('only what the token may read', async () => {
    const mine = await product(['mine'], 10);
    const other = await product(['other'], 10);
    const limited = await createToken(server, token, workspaceId, ['READ'], { deviceIds: mine.deviceIds });
    const pushes = await subscribed({}, limited.secret);
    await record(other.deviceIds[0]!);
    await record(mine.deviceIds[0]!);
    const got = await pushes.until(2);
    await pushes.end();
    expect(got.map(({ device }) => device.id)).toEqual([mine.deviceIds[0], mine.deviceIds[0]]);
    const recorder = await createToken(server, token, workspaceId, ['RECORD']);
    const refused = await subscribed({}, recorder.secret);
    expect(JSON.stringify(await refused.until(1))).toContain('FORBIDDEN');
    await refused.end();
  });

  test('after a restart too: a device heard before it goes silent after it, once', async () => {
    const { id, deviceIds } = await product(['restart'], 3_600);
    await record(deviceIds[0]!);
    await server.process.stop();
    server = await startServer({ database: kept });
    const pushes = await subscribed({ p: id });
    // However long the start took, it has not been silent for so long that nobody would be told.
    await server.gql(
      'mutation ($id: ID!) { updateProduct(id: $id, input: { offlineAfterSeconds: 1 }) { id } }',
      { id },
      token,
    );
    expect((await pushes.until(1))[0]).toMatchObject({ online: false, device: { id: deviceIds[0] } });
    // One that is read later than its limit is not told to be online.
    while (pushes.got.length < 2) await record(deviceIds[0]!);
    const got = await pushes.until(2);
    await pushes.end();
    expect(got.slice(0, 2).map(({ online }) => online)).toEqual([false, true]);
  });

  test('webhookCalled begins with the last calls, oldest of them first, then goes on, of one status if asked', async () => {
    const { id, webhookId } = await product([], null);
    const call = (body: string) =>
      fetch(`${server.url}/integrations/api/${webhookId}/`, { method: 'POST', body }).then((answer) => answer.text());
    const CALLED =
      'subscription ($p: ID!, $last: Int, $status: [CallStatus!]) { webhookCalled(productId: $p, last: $last, status: $status) { body status } }';
    for (const body of ['1', '2', '3']) await call(body);
    const bodies = (got: any[]): string[] => got.map(({ body }) => body);
    const last = new Pushes(server.url, token, CALLED, { p: id, last: 2 });
    expect(bodies(await last.until(2))).toEqual(['2', '3']);
    const stored = new Pushes(server.url, token, CALLED, { p: id, last: 10, status: ['NOTHING_STORED'] });
    const all = new Pushes(server.url, token, CALLED, { p: id, last: 500 });
    await all.until(3);
    await call('4');
    await server.gql(
      'mutation ($p: ID!) { saveDecoder(productId: $p, source: "function Decoder() {}") { version } }',
      { p: id },
      token,
    );
    await call('5');
    expect(bodies(await last.until(4))).toEqual(['2', '3', '4', '5']);
    expect(bodies(await all.until(5))).toEqual(['1', '2', '3', '4', '5']);
    expect(bodies(await stored.until(1))).toEqual(['5']);
    const wrong = new Pushes(server.url, token, CALLED, { p: id, last: 501 });
    expect(JSON.stringify(await wrong.until(1))).toContain('BAD_USER_INPUT');
    for (const pushes of [last, stored, all, wrong]) await pushes.end();
  });
});
