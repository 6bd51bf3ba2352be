import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { firstPush } from '../support/subscribe.ts';
import { createMember } from '../support/tenant.ts';
import { createDatabase, createProduct, startServer, type TestDatabase, type TestServer } from '../support/server.ts';

const redisUrl = inject('redisUrl');

describe.skipIf(redisUrl === null)('two nodes on one PostgreSQL and one Redis', () => {
  let database: TestDatabase;
  let a: TestServer;
  let b: TestServer;

  beforeAll(async () => {
    database = await createDatabase('postgres');
    const env = { REDIS_URL: redisUrl!, WRITE_RATE_PER_FIELD: '1' };
    [a, b] = await Promise.all([startServer({ database, env }), startServer({ database, env })]);
  });
  afterAll(async () => {
    await Promise.all([a.stop(), b.stop()]);
    await database.drop();
  });

  test('a change on one node is seen by the next request on the other', async () => {
    const { id, deviceIds } = await createProduct(a);
    const send = (field: string): Promise<{ status: number }> => b.record(deviceIds[0]!, { field, value: 1 });
    expect((await send('temperature')).status).toBe(200);
    for (let round = 0; round < 10; round += 1) {
      expect((await send(`field_${round}`)).status).toBe(400);
      await a.gql('mutation ($id: ID!, $input: FieldInput!) { addField(productId: $id, input: $input) { id } }', {
        id,
        input: { identifier: `field_${round}`, type: 'FLOAT' },
      });
      expect((await send(`field_${round}`)).status).toBe(200);
    }
    await a.gql('mutation ($ids: [ID!]!) { deleteDevices(ids: $ids) }', { ids: deviceIds });
    expect((await send('temperature')).status).toBe(404);
  });

  test('a token revoked on one node is refused by the other at once', async () => {
    const { workspaces } = await a.gql('{ workspaces { id } }');
    const { createToken } = await a.gql(
      'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret token { id } } }',
      { input: { name: 't', kind: 'INDIVIDUAL', workspaceId: workspaces[0].id, scopes: ['READ'] } },
    );
    const ask = (): Promise<any> => b.query('{ viewer { token { name } } }', {}, createToken.secret);
    expect((await ask()).data.viewer.token.name).toBe('t');
    await a.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id: createToken.token.id });
    expect((await ask()).errors[0].extensions.code).toBe('UNAUTHENTICATED');
  });

  test('what both record of a device within a millisecond is all kept', async () => {
    const { id, deviceIds } = await createProduct(a);
    await a.gql('mutation ($id: ID!) { setWriteRate(productId: $id, perSecond: null) }', { id });
    const sender = async (_: unknown, at: number): Promise<number[]> => {
      const statuses: number[] = [];
      for (let time = 0; time < 40; time += 1) {
        const node = (at + time) % 2 === 0 ? a : b;
        statuses.push((await node.record(deviceIds[0]!, { field: 'temperature', value: at * 40 + time })).status);
      }
      return statuses;
    };
    const statuses = (await Promise.all(Array.from({ length: 4 }, sender))).flat();
    expect(new Set(statuses)).toEqual(new Set([200]));
    const { device } = await a.gql(
      'query ($d: ID!) { device(id: $d) { statistics(from: "2020-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z") { count } } }',
      { d: deviceIds[0] },
    );
    expect(device.statistics).toEqual([{ count: 160 }]);
  });

  test('a device that one node moves goes on with its history on the other, whichever records', async () => {
    const [from, to] = [await createProduct(a), await createProduct(a, { serialNumbers: [] })];
    const device = from.deviceIds[0]!;
    for (const { id } of [from, to])
      await a.gql('mutation ($id: ID!) { setWriteRate(productId: $id, perSecond: null) }', { id });
    const move = 'mutation ($id: ID!, $p: ID!) { updateDevice(id: $id, input: { productId: $p }) { id } }';
    const range = 'from: "2020-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z"';
    const count = async (node: TestServer): Promise<unknown> =>
      (await node.gql(`query ($d: ID!) { device(id: $d) { statistics(${range}) { count } } }`, { d: device })).device
        .statistics;
    let sent = 0;
    for (let round = 0; round < 10; round += 1) {
      const [one, other] = round % 2 === 0 ? [a, b] : [b, a];
      const send = async (node: TestServer): Promise<void> => {
        const entry = { field: 'temperature', value: 1, timestamp: 1_790_000_000 + (sent += 1) };
        while ((await node.record(device, entry)).status !== 200);
      };
      const moving = one.gql(move, { id: device, p: round % 2 === 0 ? to.id : from.id });
      await Promise.all([moving, ...[a, b, a, b].map(send)]);
      expect(await count(other)).toEqual([{ count: sent }]);
      expect(await count(one)).toEqual([{ count: sent }]);
    }
  });

  test('a value recorded on one node is pushed by the other, and a cursor of one goes on at the other', async () => {
    const { id, deviceIds } = await createProduct(a);
    const LIVE = `subscription ($d: [ID!], $after: String) {
      measurementsRecorded(deviceIds: $d, after: $after) { cursor measurements { value } } }`;
    const value = (push: any): unknown => push?.data?.measurementsRecorded.measurements[0].value;
    await a.gql('mutation ($id: ID!) { setWriteRate(productId: $id, perSecond: null) }', { id });
    const heard: { push: any } = { push: null };
    const first = firstPush(b.url, b.adminToken, LIVE, { d: deviceIds }).then((push) => (heard.push = push));
    let sent = 0;
    while (heard.push === null)
      expect((await a.record(deviceIds[0]!, { field: 'temperature', value: (sent += 1) })).status).toBe(200);
    const push = (await first) as any;
    expect(value(push)).toBeGreaterThanOrEqual(1);
    expect((await b.record(deviceIds[0]!, { field: 'temperature', value: 'next'.length * 100 })).status).toBe(200);
    const { cursor } = push.data.measurementsRecorded;
    const later: unknown[] = [];
    for (let after = cursor; later.at(-1) !== 400;) {
      const next = (await firstPush(a.url, a.adminToken, LIVE, { d: deviceIds, after })) as any;
      later.push(value(next));
      after = next.data.measurementsRecorded.cursor;
    }
    expect(later.slice(0, -1)).toEqual(
      Array.from({ length: sent - (value(push) as number) }, (_, i) => (value(push) as number) + 1 + i),
    );
  });

  test('the write limit spans the nodes', async () => {
    const { id, deviceIds } = await createProduct(a);
    const entry = { field: 'temperature', value: 1 };
    const limit = (rate: number): Promise<unknown> =>
      a.gql('mutation ($id: ID!, $rate: Float!) { setWriteRate(productId: $id, perSecond: $rate) }', { id, rate });
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const) {
      // Meanwhile nothing comes back.
      await limit(1_000);
      expect((await other.record(deviceIds[0]!, entry)).status).toBe(200);
      await limit(0.001);
      await expect.poll(async () => (await one.record(deviceIds[0]!, entry)).status).toBe(429);
      expect((await other.record(deviceIds[0]!, entry)).status).toBe(429);
    }
  });

  test('a node that starts after the first user was deleted hears the others, and they hear it', async () => {
    const { deviceIds } = await createProduct(a);
    const { workspaces } = await a.gql('{ workspaces { id } }');
    const second = await createMember(a, workspaces[0].id, 'ADMIN');
    await a.gql('mutation ($id: ID!) { updateUser(id: $id, input: { operator: true }) { id } }', { id: second.userId });
    const { viewer } = await a.gql('{ viewer { user { id } } }');
    await a.gql('mutation ($id: ID!) { deleteUser(id: $id) }', { id: viewer.user.id }, second.token);
    const late = await startServer({ database, env: { REDIS_URL: redisUrl! } });
    const revokedHere = async (here: TestServer, there: TestServer): Promise<number[]> => {
      const create = 'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret token { id } } }';
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
      const input = { name: 't', kind: 'INDIVIDUAL', workspaceId: workspaces[0].id, scopes: ['RECORD'], expiresAt };
      const { secret, token } = (await here.gql(create, { input }, second.token))['createToken'];
      const record = async (): Promise<number> =>
        (await there.record(deviceIds[0]!, { field: 'other', value: 1 }, { token: secret })).status;
      const before = await record();
      await here.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id: token.id }, second.token);
      return [before, await record()];
    };
    try {
      expect(await revokedHere(a, late)).toEqual([400, 401]);
      expect(await revokedHere(late, a)).toEqual([400, 401]);
    } finally {
      await late.stop();
    }
  });
});

test.skipIf(redisUrl === null)(
  'one of two nodes judges by the rules, and the other goes on at once when it stops',
  async () => {
    const database = await createDatabase('postgres');
    const env = { REDIS_URL: redisUrl!, WRITE_RATE_PER_FIELD: '0' };
    const nodes = await Promise.all([1, 2].map(() => startServer({ alone: true, database, env })));
    const [a, b] = nodes as [TestServer, TestServer];
    const { id, deviceIds } = await createProduct(a);
    const levels = [{ severity: 'INFO', all: [{ field: 'temperature', operator: 'GT', value: 30 }] }];
    const rule = 'mutation ($p: ID!, $i: RuleInput!) { createRule(productId: $p, input: $i) { id } }';
    await a.gql(rule, { p: id, i: { name: 'hot', levels } });
    let time = Math.floor(Date.now() / 1_000) - 1_000;
    const record = async (node: TestServer, value: number): Promise<void> => {
      time += 1;
      await node.record(deviceIds[0]!, { field: 'temperature', value, timestamp: time });
    };
    const states = async (): Promise<string[]> => {
      const { alerts } = await b.gql('query ($p: ID) { alerts(productId: $p) { edges { node { state } } } }', {
        p: id,
      });
      return alerts.edges.map(({ node }: { node: { state: string } }) => node.state);
    };
    for (const node of [a, b, a, b]) {
      await record(node, 31);
      await expect.poll(async () => (await states())[0], { interval: 20 }).toBe('FIRING');
      await record(node, 20);
      await expect.poll(async () => (await states())[0], { interval: 20 }).toBe('RESOLVED');
    }
    await record(a, 31);
    await a.stop();
    await expect.poll(async () => (await states())[0], { interval: 20 }).toBe('FIRING');
    expect(await states()).toHaveLength(5);
    await b.stop();
    await database.drop();
  },
);
