import { expect, test } from 'vitest';
import { Receiver } from '../support/receiver.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createDatabase, createProduct, DATABASES, startServer, type TestServer } from '../support/server.ts';

const KILLS = process.env['INLET_TESTS'] === 'nightly' ? 20 : 2;
const DEVICES = 4;
const BEGIN = 1_700_000_000;
const LEVELS = [{ severity: 'WARNING', all: [{ field: 'a', operator: 'GT', value: 60, clear: 40 }] }];
const ALERTS = `query ($p: ID, $after: String) { alerts(productId: $p, first: 500, after: $after) {
  edges { node { id state late startedAt firedAt endedAt device { id } } } pageInfo { hasNextPage endCursor } } }`;
const REPLAY = `mutation ($id: ID!, $from: DateTime!, $to: DateTime!) { testRule(ruleId: $id, from: $from, to: $to) {
  device { id } startedAt firedAt endedAt } }`;

type Row = Record<string, any>;

/** Goes up and down so that each device fires every few values. */
const valueAt = (second: number): number => Math.abs(((second * 7919) % 200) - 100);

test.each(DATABASES)(
  'after each kill alerts are what a replay makes of the values, each told once, on %s',
  async (name) => {
    const database = await createDatabase(name);
    const receiver = await Receiver.start();
    const env = { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1', WRITE_RATE_PER_FIELD: '0' };
    let server = await startServer({ alone: true, database, env });
    const { id: productId, deviceIds } = await createProduct(server, {
      fields: { a: 'FLOAT' },
      serialNumbers: Array.from({ length: DEVICES }, (_, at) => `kill-${at}`),
    });
    await server.gql('mutation ($i: EndpointInput!) { createEndpoint(input: $i) { secret } }', {
      i: { name: 'told', kind: 'WEBHOOK', url: receiver.url, events: ['alert.fired', 'alert.resolved'] },
    });
    const rule = 'mutation ($p: ID!, $i: RuleInput!) { createRule(productId: $p, input: $i) { id } }';
    const { createRule } = await server.gql(rule, { p: productId, i: { name: 'high', levels: LEVELS } });
    const seconds = deviceIds.map(() => BEGIN);
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const until = seconds.map((second) => second + 150);
      const senders = deviceIds.map((id, at) => sendWhileUp(server, id, () => (seconds[at]! += 10)));
      await expect.poll(() => seconds.every((second, at) => second > until[at]!), { interval: 5 }).toBe(true);
      await server.process.stop('SIGKILL');
      await Promise.all(senders);
      server = await startServer({ alone: true, database, env });
    }
    const to = new Date((Math.max(...seconds) + 1) * 1_000).toISOString();
    const replay = { id: createRule.id, from: new Date(BEGIN * 1_000).toISOString(), to };
    const { testRule: expected } = await server.gql(REPLAY, replay);
    expect(expected.length).toBeGreaterThan(DEVICES);
    const alerts = async (): Promise<Row[]> => {
      const found: Row[] = [];
      for (let after: string | null = null, isMore = true; isMore;) {
        const { alerts: page }: Row = await server.gql(ALERTS, { p: productId, after });
        found.push(...page.edges.map(({ node }: Row) => node));
        [isMore, after] = [page.pageInfo.hasNextPage, page.pageInfo.endCursor];
      }
      return found;
    };
    const inOrder = (rows: Row[]): string[] =>
      rows
        .map(({ device, startedAt, firedAt, endedAt }) => `${device.id} ${startedAt} ${firedAt} ${endedAt}`)
        .toSorted();
    await expect.poll(async () => inOrder(await alerts()), { interval: 50 }).toEqual(inOrder(expected));

    // Each change was told, with one id over all tries, and nothing else was.
    const wanted = (await alerts()).flatMap(({ id, state, late }) => [
      ...(late ? [] : [`${id} alert.fired`]),
      ...(state === 'RESOLVED' ? [`${id} alert.resolved`] : []),
    ]);
    const told = (): string[] => {
      const ids = new Map<string, Set<string>>();
      for (const { headers, body } of receiver.received) {
        const { type, data } = JSON.parse(body);
        const event = `${data.alert.id} ${type}`;
        ids.set(event, (ids.get(event) ?? new Set()).add(headers['webhook-id']!));
      }
      return [...ids].flatMap(([event, of]) => Array.from(of, () => event)).toSorted();
    };
    await expect.poll(told, { interval: 50 }).toEqual(wanted.toSorted());
    await server.stop();
    receiver.stop();
    await database.drop();
  },
);

/** Sends one value after the other, until the server is gone. */
async function sendWhileUp(server: TestServer, deviceId: string, next: () => number): Promise<void> {
  for (;;) {
    const timestamp = next();
    const sent = await fetch(`${server.url}/v1/devices/${deviceId}/record/`, {
      method: 'POST',
      headers: { Authorization: `Token ${ADMIN_TOKEN}` },
      body: JSON.stringify({ field: 'a', value: valueAt(timestamp), timestamp }),
    }).catch(() => null);
    if (sent === null) return;
    await sent.text().catch(() => '');
  }
}
