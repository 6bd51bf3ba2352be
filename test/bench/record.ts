import { ADMIN_TOKEN, ServerProcess } from '../support/server-process.ts';
import { eachDatabase } from './each-database.ts';
import { countRows } from './count-rows.ts';
import { generateLoad, type LoadResult, type NextRequest, postRequest } from './generator.ts';
import { startBareKoa } from './start-bare-koa.ts';

const DEVICES = 1000;
const FIELDS = 10;
const CONNECTIONS = 50;
const HEADERS = ['Content-Type: application/json', `Authorization: Token ${ADMIN_TOKEN}`];
/** Timestamps are written over in place: every one has this width. */
const TIME_WIDTH = 14;

/**
 * `npm run bench -- record [seconds] [sqlite|postgres|both] [values,…] [window]`: POST → validated → durable, beside a
 * bare Koa route that reads and parses the same bodies. Every acknowledged value has a timestamp of its own, and is
 * counted in the database at the end. With a `window` of 10 seconds and a minute of time the compactor is at work all
 * along: `inChunks` says how many values it has moved.
 */
export async function run(args: string[]): Promise<void> {
  const seconds = Number(args[0] ?? 8);
  const only = args[1] === 'both' ? undefined : args[1];
  const windowSeconds = args[3] ?? '3600';
  const bare = await startBareKoa();
  try {
    await eachDatabase(only, async ({ database, newUrl }) => {
      for (const values of (args[2] ?? '10,1,100').split(',').map(Number))
        await scenario({ database, url: await newUrl(), values, seconds, windowSeconds, barePort: bare.port });
    });
  } finally {
    bare.stop();
  }
}

interface Scenario {
  database: string;
  url: string;
  values: number;
  seconds: number;
  windowSeconds: string;
  barePort: number;
}

async function scenario({ database, url, values, seconds, windowSeconds, barePort }: Scenario): Promise<void> {
  const server = await ServerProcess.start({
    DATABASE_URL: url,
    WRITE_RATE_PER_FIELD: '0',
    LOG_LEVEL: 'info',
    LIVE_WINDOW_SECONDS: windowSeconds,
  });
  const idleMb = server.residentMb();
  const ids = await createDevices(server);
  const resident: number[] = [];
  const sampler = setInterval(() => resident.push(server.residentMb()), 250);
  let stored = 0;
  const counted = async (options: { port: number; rate?: number; seconds: number }): Promise<LoadResult> => {
    const result = await generateLoad({ connections: CONNECTIONS, next: requests(ids, values), ...options });
    if (options.port === server.port) stored += (result.requests - result.failed) * values;
    return result;
  };
  await counted({ port: barePort, seconds: 1 });
  await counted({ port: server.port, seconds: 1.5 });
  const bare = await counted({ port: barePort, seconds: seconds / 2 });
  const full = await counted({ port: server.port, seconds });
  const bareAgain = await counted({ port: barePort, seconds: seconds / 2 });
  const half = await counted({ port: server.port, seconds: seconds / 2, rate: full.requestsPerSecond / 2 });
  // What the machine and the generator alone make of that rate.
  const bareHalf = await counted({ port: barePort, seconds: seconds / 2, rate: full.requestsPerSecond / 2 });
  clearInterval(sampler);
  const exit = await server.stop();
  const rows = await countRows(url);
  const inChunks = await countRows(url, 'chunked');
  const ceiling = (bare.requestsPerSecond + bareAgain.requestsPerSecond) / 2;
  const third = Math.floor(resident.length / 3);
  console.log(
    JSON.stringify({
      bench: 'record',
      database,
      values,
      requestsPerSecond: full.requestsPerSecond,
      valuesPerSecond: full.requestsPerSecond * values,
      barePerSecond: Math.round(ceiling),
      ratio: Math.round((full.requestsPerSecond / ceiling) * 1000) / 1000,
      p50Ms: full.p50Ms,
      p99Ms: full.p99Ms,
      p99AtHalfLoadMs: half.p99Ms,
      bareP99AtHalfLoadMs: bareHalf.p99Ms,
      failed: full.failed + half.failed,
      idleMb,
      residentMb: { first: Math.max(0, ...resident.slice(0, third)), last: Math.max(0, ...resident.slice(-third)) },
      acknowledged: stored,
      rows,
      inChunks,
    }),
  );
  if (exit !== 0 || rows !== stored)
    throw new Error(`${stored} values were acknowledged, ${rows} are there (exit ${exit})`);
}

async function createDevices(server: ServerProcess): Promise<string[]> {
  const fields = Array.from({ length: FIELDS }, (_, at) => ({ identifier: `field_${at}`, type: 'FLOAT' }));
  const { createProduct: product } = await server.gql<{ createProduct: { id: string } }>(
    'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id } }',
    { input: { name: 'bench', fields } },
  );
  const devices = Array.from({ length: DEVICES }, (_, at) => ({ name: `device ${at}` }));
  const { createDevices: created } = await server.gql<{ createDevices: { id: string }[] }>(
    'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices, plan: "unlimited") { id } }',
    { id: product.id, devices },
  );
  return created.map((device) => device.id);
}

let clock = 1_600_000_000_000;

/** Each connection walks over its own devices; each request takes the next milliseconds, so that no key repeats. */
function requests(ids: string[], values: number): NextRequest {
  const templates = ids.map((id) => {
    const entries = Array.from(
      { length: values },
      (_, at) =>
        `{"field":"field_${at % FIELDS}","value":${(20 + at / 7).toFixed(3)},"timestamp":${'0'.repeat(TIME_WIDTH)}}`,
    );
    const bytes = postRequest(`/v1/devices/${id}/record/?batch=true`, HEADERS, `[${entries.join(',')}]`);
    const offsets: number[] = [];
    const mark = '"timestamp":';
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) offsets.push(at + mark.length);
    return { bytes, offsets };
  });
  const perConnection = Math.floor(ids.length / CONNECTIONS);
  return (connection, sequence) => {
    const { bytes, offsets } = templates[connection * perConnection + (sequence % perConnection)]!;
    let time = '';
    offsets.forEach((offset, at) => {
      if (at % FIELDS === 0) {
        clock += 1;
        time = (clock / 1000).toFixed(3);
      }
      bytes.write(time, offset, TIME_WIDTH, 'latin1');
    });
    return bytes;
  };
}
