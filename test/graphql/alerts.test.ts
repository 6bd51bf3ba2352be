import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  createDatabase,
  createProduct,
  DATABASES,
  startServer,
  type TestDatabase,
  type TestProduct,
  type TestServer,
} from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { firstPush, listening } from '../support/subscribe.ts';
import { createWorkspace } from '../support/tenant.ts';

const ALERT = `id state severity startedAt firedAt endedAt late acknowledgedBy snoozedUntil rule { name } device { id }
  trace { state severity reason values note }`;
const LIST = `query ($p: ID, $s: [AlertState!]) { alerts(productId: $p, state: $s) { totalCount edges { node { ${ALERT} } } } }`;
const RULE = 'mutation ($p: ID!, $i: RuleInput!) { createRule(productId: $p, input: $i) { id } }';
const UPDATE = 'mutation ($id: ID!, $i: RuleInput!) { updateRule(id: $id, input: $i) { id } }';
const CHANGED = `subscription ($p: ID, $a: String) { alertChanged(productId: $p, after: $a) { cursor alert { id state device { id } trace { state } } } }`;

type Alert = Record<string, any>;

const hot = { field: 'temperature', operator: 'GT', value: 30 };
const levels = (condition: Record<string, unknown> = hot) => [{ severity: 'WARNING', all: [condition] }];

describe.each(DATABASES)('alerts on %s', (database) => {
  let kept: TestDatabase;
  let server: TestServer;
  let workspaceId: string;
  let product: TestProduct;
  let device: string;
  /** Now in seconds, some minutes ago: times of values are before it. */
  let base: number;

  beforeAll(async () => {
    kept = await createDatabase(database);
    server = await startServer({ database: kept });
  });

  afterAll(async () => {
    await server?.stop();
    await kept?.drop();
  });

  beforeEach(async () => {
    workspaceId = await createWorkspace(server, 'alerts');
    product = await createProduct(server, { workspaceId });
    device = product.deviceIds[0]!;
    base = Math.floor(Date.now() / 1_000) - 600;
  });

  async function rule(input: Record<string, unknown> = {}): Promise<string> {
    const given = { name: 'hot', levels: levels(), ...input };
    return (await server.gql(RULE, { p: product.id, i: given }))['createRule'].id;
  }

  async function record(...values: [seconds: number, value: number][]): Promise<void> {
    const entries = values.map(([seconds, value]) => ({ field: 'temperature', value, timestamp: base + seconds }));
    expect((await server.record(device, entries)).status).toBe(200);
  }

  async function alerts(state?: string[]): Promise<Alert[]> {
    const { alerts: found } = await server.gql(LIST, { p: product.id, ...(state === undefined ? {} : { s: state }) });
    expect(found.totalCount).toBe(found.edges.length);
    return found.edges.map(({ node }: { node: Alert }) => node);
  }

  /** The states of the product's alerts, newest first, as soon as they are these. */
  async function become(...states: string[]): Promise<Alert[]> {
    let found: Alert[] = [];
    const look = async (): Promise<string[]> => {
      found = await alerts();
      return found.map(({ state }) => state);
    };
    await expect.poll(look, { interval: 100 }).toEqual(states);
    return found;
  }

  const seconds = (time: string | null): number | null => (time === null ? null : Date.parse(time) / 1_000 - base);

  test('an alert fires and is over by measured times, with its trace', async () => {
    await rule();
    await record([0, 31]);
    const [fired] = await become('FIRING');
    expect(fired).toMatchObject({ severity: 'WARNING', late: false, rule: { name: 'hot' }, device: { id: device } });
    expect([seconds(fired!['startedAt']), seconds(fired!['firedAt']), fired!['endedAt']]).toEqual([0, 0, null]);
    await record([60, 20]);
    const [over] = await become('RESOLVED');
    expect(over!['id']).toBe(fired!['id']);
    expect(seconds(over!['endedAt'])).toBe(60);
    expect(over!['trace'].map(({ state, reason, values }: Alert) => [state, reason, values])).toEqual([
      ['FIRING', 'VALUE', { temperature: 31 }],
      ['RESOLVED', 'VALUE', { temperature: 20 }],
    ]);
    expect(await alerts(['FIRING'])).toEqual([]);
  });

  test('an import changes no state, however new its values are', async () => {
    const { createDevices } = await server.gql(
      'mutation ($p: ID!) { createDevices(productId: $p, devices: [{ name: "other" }]) { id } }',
      { p: product.id },
    );
    const other = createDevices[0].id as string;
    await rule();
    await rule({ name: 'silent', levels: levels({ absentSeconds: 1 }) });
    await record([0, 20]);
    await become('FIRING');
    const imported = await fetch(`${server.url}/v1/devices/${device}/import`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv', authorization: `Token ${ADMIN_TOKEN}` },
      body: `timestamp,temperature\n${base + 60},99\n`,
    });
    expect(imported.status).toBe(200);
    await server.record(other, { field: 'temperature', value: 31, timestamp: base });
    await expect
      .poll(async () => (await alerts()).map(({ device: { id }, rule: { name } }) => [id, name]))
      .toContainEqual([other, 'hot']);
    expect((await alerts()).filter((one) => one['device'].id === device)).toMatchObject([
      { rule: { name: 'silent' }, state: 'FIRING' },
    ]);
    await record([120, 31]);
    await expect.poll(async () => (await alerts(['FIRING'])).map(({ rule: { name } }) => name)).toContain('hot');
  });

  test('nor does a replay, which gives values that are newer than all before', async () => {
    const save = 'mutation ($p: ID!, $s: String!) { saveDecoder(productId: $p, source: $s) { __typename } }';
    const decoder = (rest: string): string =>
      `function Decoder(request) { ${rest} return [{ device: "d-1", field: "temperature", value: 99, timestamp: ${base + 60} }]; }`;
    product = await createProduct(server, {
      workspaceId,
      serialNumbers: ['d-1', 'd-2'],
      input: { decoder: decoder('throw new Error("not yet");') },
    });
    const { id: productId, webhookId, deviceIds } = product;
    const fired = async (): Promise<unknown[]> =>
      (await server.gql(LIST, { p: productId }))['alerts'].edges.map(({ node }: { node: Alert }) => [
        node['device'].id,
        node['state'],
      ]);
    await rule();
    await server.record(deviceIds[1]!, { field: 'temperature', value: 31, timestamp: base });
    // By then the devices have been judged by what was stored when the rule was saved.
    await expect.poll(fired).toEqual([[deviceIds[1], 'FIRING']]);
    await fetch(`${server.url}/integrations/api/${webhookId}/`, { method: 'POST', body: '{}' });
    await server.gql(save, { p: productId, s: decoder('') });
    const { replayCalls } = await server.gql('mutation ($p: ID!) { replayCalls(productId: $p) { calls added } }', {
      p: productId,
    });
    expect(replayCalls).toEqual({ calls: 1, added: 1 });
    await server.record(deviceIds[1]!, { field: 'temperature', value: 20, timestamp: base + 30 });
    await expect.poll(fired).toEqual([[deviceIds[1], 'RESOLVED']]);
    await server.record(deviceIds[0]!, { field: 'temperature', value: 31, timestamp: base + 90 });
    await expect.poll(fired).toEqual([
      [deviceIds[0], 'FIRING'],
      [deviceIds[1], 'RESOLVED'],
    ]);
  });

  test('a duration ends by the clock, without a further value', async () => {
    await rule({ forSeconds: 0.4 });
    await record([0, 31]);
    const [fired] = await become('FIRING');
    expect(fired!['trace'].map(({ state, reason }: Alert) => [state, reason])).toEqual([
      ['PENDING', 'VALUE'],
      ['FIRING', 'DURATION'],
    ]);
  });

  test('what begins and ends within one batch is one alert, and late', async () => {
    await rule({ forSeconds: 60 });
    await record([0, 31], [120, 32], [180, 20], [240, 31], [270, 20]);
    const [late] = await become('RESOLVED');
    expect(late).toMatchObject({ late: true });
    expect([seconds(late!['startedAt']), seconds(late!['firedAt']), seconds(late!['endedAt'])]).toEqual([0, 60, 180]);
  });

  test('of a thousand episodes in one batch the first and the newest are told, and the number of the others', async () => {
    await rule();
    await record([-1_000, 31]);
    await become('FIRING');
    const alternating = Array.from({ length: 1_998 }, (_, index): [number, number] => [index / 4, (index % 2) * 40]);
    await record(...alternating);
    const found = await become('FIRING', ...Array.from({ length: 19 }, () => 'RESOLVED'));
    expect(found.map(({ late }) => late)).toEqual([false, ...Array.from({ length: 18 }, () => true), false]);
    expect([seconds(found[0]!['startedAt']), seconds(found.at(-1)!['endedAt'])]).toEqual([499.25, 0]);
    const notes = found.flatMap(({ trace }) => trace.map(({ note }: Alert) => note)).filter((note) => note !== null);
    expect(notes).toEqual(['Left out, as too many at once: 980 earlier episodes.']);
  });

  test('late values change nothing', async () => {
    await rule();
    await rule({ name: 'hotter', levels: levels({ ...hot, value: 40 }) });
    await record([100, 31]);
    await become('FIRING');
    await record([50, 20]);
    // Judged behind the late one.
    await record([101, 45]);
    const of = async (rule: string): Promise<Alert[]> => (await alerts()).filter((one) => one['rule'].name === rule);
    await expect.poll(() => of('hotter'), { interval: 100 }).toMatchObject([{ state: 'FIRING' }]);
    const still = await of('hot');
    expect(still).toMatchObject([{ state: 'FIRING' }]);
    expect(still[0]!['trace']).toHaveLength(1);
  });

  test('silence fires by the clock, and a value ends it', async () => {
    await rule({ levels: levels({ absentSeconds: 1 }) });
    await server.record(device, [{ field: 'temperature', value: 1 }]);
    await become('FIRING');
    await server.record(device, [{ field: 'temperature', value: 1 }]);
    const states = async () => (await alerts()).map(({ state }) => state).at(-1);
    await expect.poll(states, { interval: 100 }).toBe('RESOLVED');
  });

  test('saving a rule judges its devices by what is stored', async () => {
    await record([0, 31], [60, 35]);
    const id = await rule();
    const [fired] = await become('FIRING');
    expect(seconds(fired!['startedAt'])).toBe(0);
    await server.gql(UPDATE, { id, i: { name: 'hot', levels: levels({ ...hot, value: 40 }) } });
    const [over] = await become('RESOLVED');
    expect(over!['trace'].at(-1).reason).toBe('SAVED');
    await server.gql(UPDATE, { id, i: { name: 'hot', levels: levels({ ...hot, value: 34 }) } });
    await become('FIRING', 'RESOLVED');
    await server.gql(UPDATE, { id, i: { name: 'hot', levels: levels({ ...hot, value: 34 }), enabled: false } });
    await become('RESOLVED', 'RESOLVED');
    await server.gql('mutation ($id: ID!) { deleteRule(id: $id) }', { id });
    await become();
  });

  test('a latched alert is over by acknowledgement; who and why is noted', async () => {
    await rule({ latched: true });
    await record([0, 31]);
    await record([60, 20]);
    const [waiting] = await become('RECOVERING');
    const { acknowledgeAlert: over } = await server.gql(
      `mutation ($id: ID!) { acknowledgeAlert(id: $id, note: "seen") { ${ALERT} } }`,
      { id: waiting!['id'] },
    );
    expect(over).toMatchObject({ state: 'RESOLVED', acknowledgedBy: expect.any(String) });
    expect(seconds(over.endedAt)).toBe(60);
    expect(over.trace.some(({ reason, note }: Alert) => reason === 'ACKNOWLEDGED' && note === 'seen')).toBe(true);
  });

  test('a snoozed alert goes on', async () => {
    await rule();
    await record([0, 31]);
    const [fired] = await become('FIRING');
    const snooze = 'mutation ($id: ID!, $u: DateTime!) { snoozeAlert(id: $id, until: $u) { state snoozedUntil } }';
    const until = new Date(Date.now() + 60_000).toISOString();
    const { snoozeAlert: snoozed } = await server.gql(snooze, { id: fired!['id'], u: until });
    expect(snoozed).toEqual({ state: 'FIRING', snoozedUntil: until });
    const past = await server.query(snooze, { id: fired!['id'], u: '2020-01-01T00:00:00Z' });
    expect(past.errors![0]!.message).toContain('until: must be ahead');
    await record([1, 20]);
    await become('RESOLVED');
  });

  test('alertChanged goes on behind a cursor', async () => {
    await rule();
    const first = firstPush(server.url, server.adminToken, CHANGED, { p: product.id });
    await listening(server.url, server.adminToken);
    await record([0, 31]);
    const pushed = (await first)!.data!['alertChanged'];
    expect(pushed.alert).toMatchObject({ state: 'FIRING', device: { id: device } });
    await record([1, 20]);
    await become('RESOLVED');
    const next = await firstPush(server.url, server.adminToken, CHANGED, { p: product.id, a: pushed.cursor });
    expect(next!.data!['alertChanged'].alert).toMatchObject({ id: pushed.alert.id, state: 'RESOLVED' });
    // Each with its trace as it was then.
    const tracesOf = ({ alert }: Alert): string[] => alert['trace'].map(({ state }: Alert) => state);
    expect(tracesOf(pushed)).toEqual(['FIRING']);
    expect(tracesOf(next!.data!['alertChanged'])).toEqual(['FIRING', 'RESOLVED']);
    const wrong = await firstPush(server.url, server.adminToken, CHANGED, { p: product.id, a: 'x' });
    expect(wrong!.errors![0]!.extensions.code).toBe('BAD_USER_INPUT');
  });

  test('a device that gets the tags of a rule, loses them or moves away is judged at once', async () => {
    const update = async (input: Record<string, unknown>): Promise<void> => {
      const change =
        'mutation ($id: ID!, $i: UpdateDeviceInput!) { updateDevice(id: $id, input: $i, confirm: true) { id } }';
      await server.gql(change, { id: device, i: input });
    };
    await rule({ tags: ['cold'] });
    await record([0, 31]);
    await update({ tags: ['cold', 'big'] });
    const [fired] = await become('FIRING');
    expect(seconds(fired!['startedAt'])).toBe(0);
    await update({ tags: ['big'] });
    const [over] = await become('RESOLVED');
    expect(over!['trace'].at(-1).reason).toBe('SAVED');
    await update({ tags: ['cold'] });
    await become('FIRING', 'RESOLVED');
    const other = await createProduct(server, { workspaceId, serialNumbers: ['other'] });
    await server.gql(RULE, { p: other.id, i: { name: 'hot here', levels: levels({ ...hot, value: 20 }) } });
    await update({ productId: other.id });
    const states = async () => (await server.gql(LIST, { p: other.id })).alerts.edges.map(({ node }: { node: Alert }) => [node['rule'].name, node['state'], seconds(node['startedAt'])]); // oxfmt-ignore
    await expect
      .poll(states, { interval: 100 })
      .toEqual([['hot here', 'FIRING', 0], ['hot', 'RESOLVED', 0], ['hot', 'RESOLVED', 0]]); // oxfmt-ignore
  });

  test('the first value after a restart is judged, although a call without values was the last before it', async () => {
    await rule();
    await record([0, 31]);
    await become('FIRING');
    // It tells nothing new: the place behind it is stored when the server stops.
    await record([60, 32]);
    const called = await fetch(`${server.url}/integrations/api/${product.webhookId}/`, { method: 'POST', body: '{}' });
    expect(called.status).toBe(202);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await server.stop();
    server = await startServer({ database: kept });
    await record([120, 20]);
    expect(seconds((await become('RESOLVED'))[0]!['endedAt'])).toBe(120);
  });

  test('what was pending goes on after a restart', async () => {
    await rule({ forSeconds: 10 });
    await record([0, 31]);
    await become('PENDING');
    await server.stop();
    server = await startServer({ database: kept });
    const [fired] = await become('FIRING');
    expect([seconds(fired!['startedAt']), seconds(fired!['firedAt'])]).toEqual([0, 10]);
  });
});
