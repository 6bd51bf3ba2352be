import { ADMIN_TOKEN, ServerProcess } from '../support/server-process.ts';
import { eachDatabase } from './each-database.ts';
import { generateLoad, postRequest } from './generator.ts';
import { startBareKoa } from './start-bare-koa.ts';

const CONNECTIONS = 20;
const HEADERS = ['Content-Type: application/json', `Authorization: Token ${ADMIN_TOKEN}`];
const START = 1_767_225_600;
const LATEST = 'latest { timestamp value field { identifier unit } }';
const HISTORY =
  'history(from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z") { field { identifier } timestamps values }';

/** `$p`: the product, `$d`: its first device, which has a day of minutes. */
const SCENARIOS = {
  list: `query ($p: ID!) { devices(productId: $p, first: 50) { edges { node { name online lastHeardAt ${LATEST} } } } }`,
  device: `query ($d: ID!) { device(id: $d) { name online lastHeardAt ${LATEST} } }`,
  history: `query ($d: ID!) { device(id: $d) { ${HISTORY} } }`,
  calls: `query ($p: ID!) { product(id: $p) { calls(first: 50) { edges { node { id receivedAt method path body status } } } } }`,
};

/** The same list of PostGraphile's, over the tables of `postgraphile.ts`. */
const POSTGRAPHILE_LIST =
  '{ allDevices(first: 50) { edges { node { name online lastHeardAt latest: latestsByDeviceKey { nodes { timestamp value field: fieldByFieldKey { identifier unit } } } } } } }';

/**
 * `[POSTGRAPHILE=folder] npm run bench -- graphql [seconds] [sqlite|postgres]`: what dashboards ask, beside a bare Koa
 * route with plain SQL, and beside PostGraphile 5 when told where it is installed (`npm install postgraphile` in a folder
 * of its own): questions that are all different, and (`equal…`) all the same, which are answered together.
 */
export async function run(args: string[]): Promise<void> {
  const seconds = Number(args[0] ?? 4);
  const only = args[1];
  const bare = await startBareKoa('bare-sql.ts');
  try {
    await eachDatabase(only, async ({ database, newUrl }) => {
      await measure(database, await newUrl(), bare.port, seconds);
      const folder = process.env['POSTGRAPHILE'];
      if (database === 'postgres' && folder !== undefined) await besidePostgraphile(folder, newUrl, seconds);
    });
  } finally {
    bare.stop();
  }
}

async function measure(database: string, url: string, barePort: number, seconds: number): Promise<void> {
  const server = await ServerProcess.start({ DATABASE_URL: url, WRITE_RATE_PER_FIELD: '0', LOG_LEVEL: 'info' });
  const variables = await fill(server);
  for (const [scenario, query] of Object.entries(SCENARIOS)) {
    const used = Object.entries(variables).filter(([name]) => query.includes(`$${name}`));
    const body = JSON.stringify({ query, variables: Object.fromEntries(used) });
    // Seen before it is measured, and an error here ends the bench.
    const { length: bytes } = JSON.stringify(await server.gql(query, Object.fromEntries(used)));
    const request = postRequest('/graphql', HEADERS, body);
    const bareRequest = postRequest(`/${scenario}`, HEADERS, body);
    // No two that wait are equal: a variable that the query does not name tells them apart.
    const different = Array.from({ length: CONNECTIONS * 2 }, (_, n) =>
      postRequest('/graphql', HEADERS, JSON.stringify({ query, variables: { ...Object.fromEntries(used), n } })),
    );
    let turn = 0;
    const load = (port: number, next: () => Buffer, part = 1) =>
      generateLoad({ port, connections: CONNECTIONS, seconds: seconds * part, next });
    const nextDifferent = (): Buffer => different[(turn += 1) % different.length]!;
    await load(server.port, nextDifferent, 0.5);
    const bare = await load(barePort, () => bareRequest, 0.5);
    const full = await load(server.port, nextDifferent);
    const bareAgain = await load(barePort, () => bareRequest, 0.5);
    const equal = await load(server.port, () => request);
    if (full.failed + equal.failed > 0) throw new Error(`answers of ${scenario} were no 200`);
    const ceiling = (bare.requestsPerSecond + bareAgain.requestsPerSecond) / 2;
    console.log(
      JSON.stringify({
        bench: 'graphql',
        database,
        scenario,
        bytes,
        requestsPerSecond: full.requestsPerSecond,
        barePerSecond: Math.round(ceiling),
        ratio: Math.round((full.requestsPerSecond / ceiling) * 1000) / 1000,
        p50Ms: full.p50Ms,
        p99Ms: full.p99Ms,
        equalPerSecond: equal.requestsPerSecond,
        equalRatio: Math.round((equal.requestsPerSecond / ceiling) * 1000) / 1000,
        equalP99Ms: equal.p99Ms,
        residentMb: server.residentMb(),
      }),
    );
  }
  await server.stop();
}

/** The list of 50 of both, in turns. */
async function besidePostgraphile(folder: string, newUrl: () => Promise<string>, seconds: number): Promise<void> {
  const server = await ServerProcess.start({ DATABASE_URL: await newUrl(), WRITE_RATE_PER_FIELD: '0' });
  const { p } = await fill(server);
  const other = await startBareKoa('postgraphile.ts', [folder, await newUrl()]);
  const load = async (port: number, query: string, part: number, tellsApart = false): Promise<number> => {
    const requests = Array.from({ length: tellsApart ? CONNECTIONS * 2 : 1 }, (_, n) =>
      postRequest('/graphql', HEADERS, JSON.stringify({ query, variables: { p, n } })),
    );
    let turn = 0;
    const next = (): Buffer => requests[(turn += 1) % requests.length]!;
    const result = await generateLoad({ port, connections: CONNECTIONS, seconds: seconds * part, next });
    if (result.failed > 0) throw new Error(`${result.failed} answers of the list were no 200`);
    return result.requestsPerSecond;
  };
  await load(other.port, POSTGRAPHILE_LIST, 0.5);
  await load(server.port, SCENARIOS.list, 0.5);
  const before = await load(other.port, POSTGRAPHILE_LIST, 0.5);
  const requestsPerSecond = await load(server.port, SCENARIOS.list, 1, true);
  const equalPerSecond = await load(server.port, SCENARIOS.list, 1);
  const postgraphilePerSecond = Math.round((before + (await load(other.port, POSTGRAPHILE_LIST, 0.5))) / 2);
  const times = (perSecond: number): number => Math.round((perSecond / postgraphilePerSecond) * 10) / 10;
  console.log(
    JSON.stringify({
      bench: 'graphql',
      scenario: 'list beside PostGraphile',
      requestsPerSecond,
      postgraphilePerSecond,
      times: times(requestsPerSecond),
      equalPerSecond,
      equalTimes: times(equalPerSecond),
    }),
  );
  other.stop();
  await server.stop();
}

/** A product with ten fields and fifty devices; the first has a day of minutes, and the product fifty calls. */
async function fill(server: ServerProcess): Promise<{ p: string; d: string }> {
  const fields = Array.from({ length: 10 }, (_, at) => ({ identifier: `field_${at}`, type: 'FLOAT', unit: '°C' }));
  const { createProduct: product } = await server.gql<{ createProduct: { id: string; webhookUrl: string } }>(
    'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id webhookUrl } }',
    { input: { name: 'bench', fields, decoder: 'function Decoder() { return [] }' } },
  );
  const devices = Array.from({ length: 50 }, (_, at) => ({ name: `device ${at}` }));
  const { createDevices: created } = await server.gql<{ createDevices: { id: string }[] }>(
    'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices, plan: "unlimited") { id } }',
    { id: product.id, devices },
  );
  const record = async (id: string, minutes: number[]): Promise<void> => {
    const entries = minutes.flatMap((minute) =>
      fields.map(({ identifier }) => ({
        field: identifier,
        value: 20 + (minute % 100) / 7,
        timestamp: START + minute * 60,
      })),
    );
    const answer = await fetch(`${server.url}/v1/devices/${id}/record/`, {
      method: 'POST',
      headers: { Authorization: `Token ${ADMIN_TOKEN}` },
      body: JSON.stringify(entries),
    });
    if (answer.status !== 200) throw new Error(`recording answered ${answer.status}`);
  };
  for (const { id } of created) await record(id, [0]);
  const first = created[0]?.id ?? '';
  for (let hour = 0; hour < 24; hour += 1)
    await record(
      first,
      Array.from({ length: 60 }, (_, minute) => hour * 60 + minute),
    );
  const { pathname } = new URL(product.webhookUrl);
  for (let call = 0; call < 50; call += 1)
    await fetch(`${server.url}${pathname}`, { method: 'POST', body: 'x'.repeat(200) });
  return { p: product.id, d: first };
}
