import { startRedis } from '../support/databases.ts';
import { ADMIN_TOKEN, ServerProcess } from '../support/server-process.ts';
import { countRows } from './count-rows.ts';
import { eachDatabase } from './each-database.ts';
import { generateLoad, type NextRequest, postRequest } from './generator.ts';

const DEVICES = 200;
const CONNECTIONS = 48;
const JSON_TYPE = 'Content-Type: application/json';
const HEADERS = [JSON_TYPE, `Authorization: Token ${ADMIN_TOKEN}`];
const DECODER = `function Decoder(request) {
  var body = JSON.parse(request.body);
  return [{ device: body.serial, field: 'temperature', value: body.value, timestamp: body.time / 1000 }];
}`;

/**
 * `npm run bench -- workers [seconds] [1,2,4]`: record, webhook and GraphQL on so many workers, on PostgreSQL and Redis:
 * requests a second, and as a multiple of the first. Workers get no processors of their own: the database, Redis and the
 * generator want some, too. What was acknowledged is counted in the database at the end.
 */
export async function run(args: string[]): Promise<void> {
  const seconds = Number(args[0] ?? 5);
  const numbers = (args[1] ?? '1,2,4').split(',').map(Number);
  const redis = await startRedis();
  if (redis === null) throw new Error('this bench needs a redis-server on this machine');
  try {
    await eachDatabase('postgres', async ({ newUrl }) => {
      const first = new Map<string, number>();
      for (const workers of numbers)
        await measure(workers, { DATABASE_URL: await newUrl(), REDIS_URL: redis.url }, seconds, first);
    });
  } finally {
    await redis.stop();
  }
}

async function measure(
  workers: number,
  env: { DATABASE_URL: string; REDIS_URL: string },
  seconds: number,
  first: Map<string, number>,
): Promise<void> {
  const server = await ServerProcess.start({ ...env, WORKERS: String(workers), WRITE_RATE_PER_FIELD: '0' });
  const { id, webhookId } = await fill(server);
  let acknowledged = 0;
  for (const [scenario, { next, values }] of Object.entries(scenarios(id, webhookId))) {
    const load = async (during: number) => {
      const result = await generateLoad({ port: server.port, connections: CONNECTIONS, seconds: during, next });
      acknowledged += (result.requests - result.failed) * values;
      return result;
    };
    await load(seconds / 3);
    const { requestsPerSecond, p50Ms, p99Ms, failed } = await load(seconds);
    if (!first.has(scenario)) first.set(scenario, requestsPerSecond);
    const times = Math.round((requestsPerSecond / first.get(scenario)!) * 100) / 100;
    console.log(
      JSON.stringify({ bench: 'workers', scenario, workers, requestsPerSecond, times, p50Ms, p99Ms, failed }),
    );
  }
  const exit = await server.stop();
  const rows = await countRows(env.DATABASE_URL);
  if (exit !== 0 || rows !== acknowledged)
    throw new Error(`${acknowledged} values were acknowledged, ${rows} are there (exit ${exit})`);
}

async function fill(server: ServerProcess): Promise<{ id: string; webhookId: string }> {
  const { createProduct: product } = await server.gql<{ createProduct: { id: string; webhookId: string } }>(
    'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id webhookId } }',
    { input: { name: 'bench', fields: [{ identifier: 'temperature', type: 'FLOAT' }], decoder: DECODER } },
  );
  await server.gql(
    'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices, plan: "unlimited") { id } }',
    {
      id: product.id,
      devices: Array.from({ length: DEVICES }, (_, at) => ({ name: `${at}`, serialNumber: `serial-${at}` })),
    },
  );
  return product;
}

let clock = 1_600_000_000_000;

/** Every value has a time of its own, so that no key repeats. */
function scenarios(id: string, webhookId: string): Record<string, { next: NextRequest; values: number }> {
  const serial = (connection: number, sequence: number): string => `serial-${(connection * 7 + sequence) % DEVICES}`;
  const query = `query ($id: ID!) { product(id: $id) { name fields { identifier } } devices(productId: $id, first: 20) {
    edges { node { name latest { value timestamp } } } } }`;
  return {
    record: {
      values: 1,
      next: (connection, sequence) =>
        postRequest(
          `/v1/devices/${serial(connection, sequence)}/record/`,
          HEADERS,
          `[{"field":"temperature","value":21.5,"timestamp":${(clock += 1) / 1000}}]`,
        ),
    },
    webhook: {
      values: 1,
      next: (connection, sequence) =>
        postRequest(
          `/integrations/api/${webhookId}/`,
          [JSON_TYPE],
          `{"serial":"${serial(connection, sequence)}","value":21.5,"time":${(clock += 1)}}`,
        ),
    },
    // Different, as equal questions that wait are answered together.
    graphql: {
      values: 0,
      next: (connection, sequence) =>
        postRequest('/graphql', HEADERS, JSON.stringify({ query, variables: { id, n: connection * 1e6 + sequence } })),
    },
  };
}
