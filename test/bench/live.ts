import { Agent, request } from 'node:http';
import { WebSocket } from 'ws';
import { ADMIN_TOKEN, ServerProcess } from '../support/server-process.ts';
import { eachDatabase } from './each-database.ts';
import { startBareKoa } from './start-bare-koa.ts';

const DEVICES = 1_000;
const SOCKETS = 100;
const STANDING_STILL = 50;
/** Values each second, each a request of its own. */
const RATE = 1_000;
const CONNECTIONS = 20;
/** Until both are compiled to machine code. */
const WARM_SECONDS = 3;
const OF_DEVICE =
  'subscription ($d: ID!) { measurementsRecorded(deviceIds: [$d]) { cursor measurements { value timestamp field { identifier } } } }';
const OF_PRODUCT =
  'subscription ($p: ID!) { measurementsRecorded(productId: $p) { cursor device { id } measurements { value } } }';

/**
 * `npm run bench -- live [seconds] [sqlite|postgres]`: 1,000 subscribers over 100 sockets, each to a device of its own, and
 * 1,000 values each second: from the acknowledgement to the arrival, with 50 more subscribers to everything that do not
 * read. Beside it a bare Koa route that pushes what it was sent. Every value must arrive.
 */
export async function run(args: string[]): Promise<void> {
  const seconds = Number(args[0] ?? 8);
  await eachDatabase(args[1], async ({ database, newUrl }) => scenario(database, await newUrl(), seconds));
}

async function scenario(database: string, url: string, seconds: number): Promise<void> {
  const server = await ServerProcess.start({ DATABASE_URL: url, WRITE_RATE_PER_FIELD: '0', LOG_LEVEL: 'info' });
  const { product, devices } = await fill(server);
  const bare = await startBareKoa('bare-live.ts');
  const bareArrivals = new Arrivals();
  const bareSockets = await subscribeAll(bare.port, devices, bareArrivals);
  const arrivals = new Arrivals();
  const sockets = await subscribeAll(server.port, devices, arrivals);

  await load(bare.port, devices, WARM_SECONDS, bareArrivals);
  await load(server.port, devices, WARM_SECONDS, arrivals);
  bareArrivals.forget();
  arrivals.forget();
  const before = await load(bare.port, devices, seconds / 2, bareArrivals);
  const alone = await load(server.port, devices, seconds, arrivals);
  const after = await load(bare.port, devices, seconds / 2, bareArrivals);
  const ceiling = { p50Ms: (before.p50Ms + after.p50Ms) / 2, p99Ms: (before.p99Ms + after.p99Ms) / 2 };
  const idleMb = server.residentMb();
  print({ database, scenario: 'all read', ...alone, ...beside(alone, ceiling), residentMb: idleMb });

  // They do not even take what arrives at their socket.
  const still = await Promise.all(Array.from({ length: STANDING_STILL }, () => connect(server.port, () => {})));
  for (const socket of still) {
    subscribe(socket, '1', OF_PRODUCT, { p: product });
    socket.pause();
  }
  await subscribed();
  const resident: number[] = [];
  const sampler = setInterval(() => resident.push(server.residentMb()), 250);
  arrivals.forget();
  const beside50 = await load(server.port, devices, seconds * 2, arrivals);
  clearInterval(sampler);
  print({
    database,
    scenario: `beside ${STANDING_STILL} that stand still`,
    ...beside50,
    ...beside(beside50, ceiling),
    residentMb: Math.max(...resident),
    residentMbBefore: idleMb,
    // The growth of the second half over the first: a leak goes on, buffers do not.
    grownMb: Math.max(...resident.slice(resident.length / 2)) - Math.max(...resident.slice(0, resident.length / 2)),
  });
  for (const socket of [...still, ...sockets, ...bareSockets]) socket.terminate();
  bare.stop();
  await server.stop();
}

/** When each value was acknowledged and when it arrived; a value is a number of its own. */
class Arrivals {
  #next = 0;
  readonly #acknowledged = new Map<number, number>();
  readonly #arrived = new Map<number, number>();

  forget(): void {
    this.#acknowledged.clear();
    this.#arrived.clear();
  }

  next(): number {
    return (this.#next += 1);
  }

  acknowledged(value: number): void {
    this.#acknowledged.set(value, performance.now());
  }

  arrived(value: number): void {
    this.#arrived.set(value, performance.now());
  }

  get missing(): number {
    return [...this.#acknowledged.keys()].filter((value) => !this.#arrived.has(value)).length;
  }

  /** What arrives before its acknowledgement took no time. */
  latencies(): number[] {
    const all = [...this.#acknowledged].map(([value, at]) => Math.max(0, (this.#arrived.get(value) ?? Infinity) - at));
    return all.sort((a, b) => a - b);
  }
}

interface Latency {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
}

async function load(port: number, devices: readonly string[], seconds: number, arrivals: Arrivals): Promise<Latency> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const begun = performance.now();
  let failed = 0;
  const sending: Promise<void>[] = [];
  const count = Math.round(seconds * RATE);
  for (let sent = 0; sent < count; sent += 1) {
    const wait = begun + (sent * 1000) / RATE - performance.now();
    if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait));
    const value = arrivals.next();
    sending.push(
      (async () => {
        const status = await record(agent, port, devices[value % devices.length]!, value);
        if (status === 200) arrivals.acknowledged(value);
        else failed += 1;
      })(),
    );
  }
  await Promise.all(sending);
  const elapsed = (performance.now() - begun) / 1000;
  for (let look = 0; arrivals.missing > 0 && look < 100; look += 1)
    await new Promise((resolve) => setTimeout(resolve, 100));
  agent.destroy();
  if (failed > 0 || arrivals.missing > 0)
    throw new Error(`${failed} values were refused, ${arrivals.missing} did not arrive`);
  const latencies = arrivals.latencies();
  const at = (part: number): number => Math.round((latencies[Math.floor(latencies.length * part)] ?? 0) * 100) / 100;
  return { perSecond: Math.round(count / elapsed), p50Ms: at(0.5), p99Ms: at(0.99) };
}

function record(agent: Agent, port: number, device: string, value: number): Promise<number> {
  const body = JSON.stringify([{ field: 'value', value }]);
  return new Promise((resolve, reject) => {
    const headers = {
      Authorization: `Token ${ADMIN_TOKEN}`,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
    };
    const path = `/v1/devices/${device}/record/`;
    const sent = request({ host: '127.0.0.1', port, path, method: 'POST', agent, headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function subscribeAll(port: number, devices: readonly string[], arrivals: Arrivals): Promise<WebSocket[]> {
  const sockets = await Promise.all(
    Array.from({ length: SOCKETS }, () =>
      connect(port, (text) => {
        for (const [, value] of text.matchAll(/"value":(\d+)/g)) arrivals.arrived(Number(value));
      }),
    ),
  );
  devices.forEach((d, at) => subscribe(sockets[at % SOCKETS]!, String(at), OF_DEVICE, { d }));
  await subscribed();
  return sockets;
}

/** Subscriptions are not acknowledged. */
function subscribed(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 2_000));
}

function connect(port: number, onNext: (text: string) => void): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', { perMessageDeflate: false });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: { token: ADMIN_TOKEN } })));
    socket.on('message', (data: Buffer) => {
      const text = data.toString();
      if (text.includes('"connection_ack"')) resolve(socket);
      else if (text.includes('"error"')) throw new Error(text);
      else onNext(text);
    });
  });
}

function subscribe(socket: WebSocket, id: string, query: string, variables: Record<string, string>): void {
  socket.send(JSON.stringify({ id, type: 'subscribe', payload: { query, variables } }));
}

async function fill(server: ServerProcess): Promise<{ product: string; devices: string[] }> {
  const { createProduct: product } = await server.gql<{ createProduct: { id: string } }>(
    'mutation { createProduct(input: { name: "bench", fields: [{ identifier: "value", type: FLOAT }] }) { id } }',
  );
  const devices = Array.from({ length: DEVICES }, (_, at) => ({ name: `device ${at}` }));
  const { createDevices: created } = await server.gql<{ createDevices: { id: string }[] }>(
    'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices, plan: "unlimited") { id } }',
    { id: product.id, devices },
  );
  return { product: product.id, devices: created.map(({ id }) => id) };
}

function beside(latency: Latency, ceiling: Omit<Latency, 'perSecond'>): Record<string, number> {
  const { p50Ms, p99Ms } = ceiling;
  return { bareP50Ms: p50Ms, bareP99Ms: p99Ms, ratio: Math.round((p99Ms / latency.p99Ms) * 1000) / 1000 };
}

function print(facts: Record<string, unknown>): void {
  console.log(JSON.stringify({ bench: 'live', ...facts }));
}
