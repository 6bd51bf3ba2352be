import { ADMIN_TOKEN, ServerProcess } from '../support/server-process.ts';
import { eachDatabase } from './each-database.ts';
import { countRows } from './count-rows.ts';
import { generateLoad, type LoadResult, type NextRequest, postRequest } from './generator.ts';
import { startBareKoa } from './start-bare-koa.ts';

const CONNECTIONS = 50;
const DEVICES = 100;
const DECODER = `
function Decoder(request) {
  var body = JSON.parse(request.body);
  var at = body.time / 1000;
  return [
    { device: body.serial, field: 'temperature', value: body.data.temperature, timestamp: at },
    { device: body.serial, field: 'humidity', value: body.data.humidity, timestamp: at },
    { device: body.serial, field: 'battery', value: parseInt(body.data.battery, 16) / 100, timestamp: at }
  ];
}`;
/** What a bad neighbour runs at full rate meanwhile. */
const NEIGHBOURS: Record<string, string> = {
  none: '',
  loops: 'function Decoder() { for (;;); }',
  'eats memory': 'function Decoder() { var m = new Map(); for (var i = 0; ; i++) m.set(i, [i]); }',
};

/**
 * `npm run bench -- webhook [seconds] [sqlite|postgres]`: POST → decode → log row and three values durable → answer,
 * beside a bare Koa route that reads the same body; then the same beside a neighbour whose decoders misbehave at full
 * rate. Rows and calls are counted in the database at the end.
 */
export async function run(args: string[]): Promise<void> {
  const seconds = Number(args[0] ?? 6);
  const only = args[1];
  const bare = await startBareKoa();
  try {
    await eachDatabase(only, async ({ database, newUrl }) => scenario(database, await newUrl(), seconds, bare.port));
  } finally {
    bare.stop();
  }
}

async function scenario(database: string, url: string, seconds: number, barePort: number): Promise<void> {
  const server = await ServerProcess.start({ DATABASE_URL: url, WRITE_RATE_PER_FIELD: '0' });
  const good = await createProduct(server, DECODER, DEVICES);
  const recordPath = `/v1/devices/serial-0/record/`;
  let acknowledged = 0;
  let recorded = 0;
  const webhook = async (port: number, during: number): Promise<LoadResult> => {
    const result = await generateLoad({ connections: CONNECTIONS, port, seconds: during, next: calls(good.webhookId) });
    if (port === server.port) acknowledged += result.requests - result.failed;
    return result;
  };
  const record = async (): Promise<LoadResult> => {
    const result = await generateLoad({
      connections: 10,
      port: server.port,
      seconds: seconds / 2,
      next: records(recordPath),
    });
    recorded += result.requests - result.failed;
    return result;
  };
  await webhook(barePort, 1);
  // Warm code is what a server runs all day: compiling it takes the first seconds.
  await webhook(server.port, 3);
  const ceiling = await webhook(barePort, seconds / 2);
  for (const [neighbour, source] of Object.entries(NEIGHBOURS)) {
    // Before and after each neighbour: the machine's speed drifts.
    const before = { webhook: await webhook(server.port, seconds / 2), record: await record() };
    const product = source === '' ? null : await createProduct(server, source, 1);
    const stopping = new AbortController();
    const noise =
      product === null ? [] : Array.from({ length: 4 }, () => hammer(server, product.webhookId, stopping.signal));
    const result = await webhook(server.port, seconds);
    const beside = await record();
    stopping.abort();
    const bad = (await Promise.all(noise)).reduce((sum, count) => sum + count, 0);
    const after = { webhook: await webhook(server.port, seconds / 2), record: await record() };
    const alone = {
      webhook: (before.webhook.requestsPerSecond + after.webhook.requestsPerSecond) / 2,
      record: (before.record.requestsPerSecond + after.record.requestsPerSecond) / 2,
    };
    console.log(
      JSON.stringify({
        bench: 'webhook',
        database,
        neighbour,
        neighbourCalls: bad,
        callsPerSecond: result.requestsPerSecond,
        barePerSecond: ceiling.requestsPerSecond,
        ratio: round(result.requestsPerSecond / ceiling.requestsPerSecond),
        keepsOfWebhook: round(result.requestsPerSecond / alone.webhook),
        keepsOfRecord: round(beside.requestsPerSecond / alone.record),
        p50Ms: result.p50Ms,
        p99Ms: result.p99Ms,
        failed: result.failed + beside.failed,
        residentMb: server.residentMb(),
      }),
    );
  }
  await server.stop();
  const rows = await countRows(url);
  const expected = acknowledged * 3 + recorded;
  if (rows !== expected) throw new Error(`${expected} values were acknowledged, ${rows} are there`);
  if ((await countRows(url, 'calls')) < acknowledged) throw new Error('calls are missing in the log');
}

async function createProduct(server: ServerProcess, decoder: string, devices: number): Promise<{ webhookId: string }> {
  const fields = ['temperature', 'humidity', 'battery', 'recorded'].map((identifier) => ({
    identifier,
    type: 'FLOAT',
  }));
  const { createProduct: product } = await server.gql<{ createProduct: { id: string; webhookId: string } }>(
    'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id webhookId } }',
    { input: { name: 'bench', fields, decoder } },
  );
  const inputs = Array.from({ length: devices }, (_, at) => ({
    name: `device ${at}`,
    serialNumber: devices === 1 ? `bad-${product.id}` : `serial-${at}`,
  }));
  await server.gql(
    'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices, plan: "unlimited") { id } }',
    { id: product.id, devices: inputs },
  );
  return product;
}

let clock = 1_600_000_000_000;

/** Every call has a time of its own, so that no key repeats. */
function calls(webhookId: string): NextRequest {
  return (connection, sequence) => {
    clock += 1;
    const serial = `serial-${(connection + sequence) % DEVICES}`;
    const body = `{"serial":"${serial}","time":${clock},"data":{"temperature":21.5,"humidity":40.25,"battery":"0x0172"}}`;
    return postRequest(`/integrations/api/${webhookId}/`, ['Content-Type: application/json'], body);
  };
}

function records(path: string): NextRequest {
  const headers = ['Content-Type: application/json', `Authorization: Token ${ADMIN_TOKEN}`];
  return () => {
    clock += 1;
    return postRequest(path, headers, `[{"field":"recorded","value":1,"timestamp":${clock / 1000}}]`);
  };
}

/** Calls as fast as answers come; resolves with how many. */
async function hammer(server: ServerProcess, webhookId: string, stop: AbortSignal): Promise<number> {
  for (let count = 0; ; count += 1) {
    if (stop.aborted) return count;
    await (await fetch(`${server.url}/integrations/api/${webhookId}/`, { method: 'POST', body: 'x' })).arrayBuffer();
  }
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
