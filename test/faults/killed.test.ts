import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { SteppedClock } from '../support/clock.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import {
  createDatabase,
  createProduct,
  DATABASES,
  EITHER_DATABASE,
  startServer,
  type TestServer,
} from '../support/server.ts';

const SENDERS = 10;
const redisUrl = inject('redisUrl');
const ALL = 'from: "1970-01-01T00:00:00Z", to: "2030-01-01T00:00:00Z"';
const DECODER = `function Decoder(r) { var b = JSON.parse(r.body); return [{ device: b.d, field: 'a', value: b.t, timestamp: b.t }] }`;

test.each(DATABASES)('after each kill under load everything is there that was acknowledged, on %s', async (name) => {
  const database = await createDatabase(name);
  // A database that was killed before is killed again, whichever it is.
  const kills = EITHER_DATABASE.includes(name) ? 2 : 1;
  let server = await startServer({ alone: true, database });
  const { deviceIds } = await createProduct(server, {
    fields: { a: 'FLOAT', b: 'STRING' },
    serialNumbers: Array.from({ length: SENDERS }, (_, at) => `kill-${at}`),
  });
  const called = await createProduct(server, {
    fields: { a: 'FLOAT' },
    serialNumbers: ['hook'],
    input: { decoder: DECODER },
  });
  const recorded = deviceIds.map(() => [] as number[]);
  const calls: number[] = [];
  let second = 1_700_000_000;
  const next = (): number => (second += 1);

  for (let kill = 1; kill <= kills; kill += 1) {
    const recorders = deviceIds.map((id, at) =>
      sendWhileUp(
        `${server.url}/v1/devices/${id}/record/`,
        { Authorization: `Token ${ADMIN_TOKEN}` },
        next,
        (timestamp) => [
          { field: 'a', value: timestamp, timestamp },
          { field: 'b', value: `at ${timestamp}`, timestamp },
        ],
        recorded[at]!,
      ),
    );
    const callers = Array.from({ length: 8 }, () =>
      sendWhileUp(`${server.url}/integrations/api/${called.webhookId}/`, {}, next, (t) => ({ d: 'hook', t }), calls),
    );
    await expect.poll(() => recorded.flat().length).toBeGreaterThan(40 * kill);
    await expect.poll(() => calls.length).toBeGreaterThan(20 * kill);
    await server.process.stop('SIGKILL');
    await Promise.all([...recorders, ...callers]);
    // The last one is not killed.
    server = await startServer({ alone: kill < kills, database });
    const { history } = await server.gql(
      `query ($ids: [ID!]) {
         history(deviceIds: $ids, ${ALL}) { device { id } series { field { identifier } timestamps } } }`,
      { ids: [...deviceIds, ...called.deviceIds] },
    );
    const missing = (id: string, field: string, acknowledged: number[]): number[] => {
      const { series } = history.find(({ device }: any) => device.id === id);
      const present = new Set(series.find((one: any) => one.field.identifier === field).timestamps);
      return acknowledged.filter((timestamp) => !present.has(timestamp));
    };
    for (const [at, id] of deviceIds.entries())
      for (const field of ['a', 'b'])
        expect(missing(id, field, recorded[at]!), `field ${field} of device ${at} after kill ${kill}`).toEqual([]);
    expect(missing(called.deviceIds[0]!, 'a', calls), `calls after kill ${kill}`).toEqual([]);
    const logged = await loggedOf(server, called.id);
    expect(calls.filter((timestamp) => !logged.has(timestamp))).toEqual([]);
  }
  await server.stop();
  await database.drop();
});

/** What the log has of a product's calls, each of which is stored. */
async function loggedOf(server: TestServer, id: string): Promise<Set<number>> {
  const logged = new Set<number>();
  for (let after: string | null = null, more = true; more;) {
    const { product }: Record<string, any> = await server.gql(
      `query ($id: ID!, $after: String) { product(id: $id) { calls(first: 500, after: $after) {
         edges { node { status body } } pageInfo { hasNextPage endCursor } } } }`,
      { id, after },
    );
    for (const { node } of product.calls.edges) {
      expect(node.status).toBe('STORED');
      logged.add(JSON.parse(node.body).t);
    }
    more = product.calls.pageInfo.hasNextPage;
    after = product.calls.pageInfo.endCursor;
  }
  return logged;
}

/** Posts one body after another until the server is gone, and notes the timestamp of each that was answered 200. */
async function sendWhileUp(
  url: string,
  headers: Record<string, string>,
  next: () => number,
  body: (timestamp: number) => unknown,
  acknowledged: number[],
): Promise<void> {
  for (;;) {
    const timestamp = next();
    try {
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body(timestamp)) });
      if (response.status === 200) acknowledged.push(timestamp);
      await response.arrayBuffer();
    } catch {
      return;
    }
  }
}

test.skipIf(redisUrl === null)(
  'a node of a cluster that is killed gives no receipt time again that lay ahead of the clock',
  async () => {
    const database = await createDatabase('postgres');
    const clock = new SteppedClock();
    const env = { REDIS_URL: redisUrl!, ...clock.env };
    let server = await startServer({ alone: true, database, env });
    const [device] = (await createProduct(server, { fields: { a: 'FLOAT' } })).deviceIds;
    const send = async (values: number[]): Promise<void> => {
      const answers = await Promise.all(values.map((value) => server.record(device!, { field: 'a', value })));
      expect(answers.map(({ status }) => status)).toEqual(values.map(() => 200));
    };
    await send([0]);
    // From here on all times lie ahead of the clock: each is the next one after the last.
    clock.step(-600_000);
    const before = Array.from({ length: 40 }, (_, at) => 1 + at);
    await send(before);
    // How far they lie ahead is written down behind them, many in one go.
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const marks = "select name from installation where name like 'receipt times of device %'";
    await expect.poll(async () => (await client.query(marks)).rowCount).toBe(1);
    await client.end();
    await server.process.stop('SIGKILL');
    server = await startServer({ alone: true, database, env });
    await send(before.map((value) => 100 + value));
    const { device: read } = await server.gql(
      'query ($id: ID!) { device(id: $id) { history(from: "2000-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z") { values } } }',
      { id: device },
    );
    const { values } = read.history[0] as { values: number[] };
    expect(values).toHaveLength(81);
    expect(values.findIndex((value) => value > 100)).toBe(41);
    await server.stop();
    clock.drop();
    await database.drop();
  },
);
