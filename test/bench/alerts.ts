import { Receiver } from '../support/receiver.ts';
import { ADMIN_TOKEN, ServerProcess } from '../support/server-process.ts';
import { eachDatabase } from './each-database.ts';
import { generateLoad, type NextRequest, postRequest } from './generator.ts';

const HEADERS = ['Content-Type: application/json', `Authorization: Token ${ADMIN_TOKEN}`];
const CONNECTIONS = 20;
/** Devices, and values each second, of the first part; every value fires or ends an alert. */
const [TELLING_DEVICES, RATE, SECONDS] = [1_000, 100, 10];
/** Devices that go silent at one moment, and when. */
const [SILENT_DEVICES, SILENT_SECONDS] = [10_000, 20];

/**
 * `npm run bench -- alerts [sqlite|postgres]`: from the acknowledgement of a value to the request that tells of its alert,
 * at 100 alerts a second; and from the moment at which 10,000 devices are silent to the last request that tells of it.
 * Every alert must be told.
 */
export async function run(args: string[]): Promise<void> {
  await eachDatabase(args[0], async ({ database, newUrl }) => {
    console.log(JSON.stringify({ bench: 'alerts', database, ...(await telling(await newUrl())) }));
    console.log(JSON.stringify({ bench: 'alerts', database, ...(await silence(await newUrl())) }));
  });
}

interface Told {
  data: { device: { id: string } };
}

/** A receiver, and when it was told of each device. */
async function startReceiver(): Promise<{ receiver: Receiver; toldAt: Map<string, number> }> {
  const toldAt = new Map<string, number>();
  const receiver = await Receiver.start();
  receiver.answer = (response, { body }) => {
    receiver.received.length = 0;
    toldAt.set((JSON.parse(body) as Told).data.device.id, performance.now());
    response.writeHead(204).end();
  };
  return { receiver, toldAt };
}

async function prepare(
  url: string,
  receiver: Receiver,
  count: number,
  level: string,
): Promise<[ServerProcess, string[]]> {
  const env = { DATABASE_URL: url, WRITE_RATE_PER_FIELD: '0', WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' };
  const server = await ServerProcess.start(env);
  const { createWorkspace } = await server.gql<{ createWorkspace: { id: string } }>(
    'mutation { createWorkspace(name: "bench") { id } }',
  );
  const { createProduct } = await server.gql<{ createProduct: { id: string } }>(
    'mutation ($w: ID!) { createProduct(input: { workspaceId: $w, name: "bench", fields: [{ identifier: "value", type: FLOAT }] }) { id } }',
    { w: createWorkspace.id },
  );
  const devices = Array.from({ length: count }, (_, at) => ({ name: `device ${at}` }));
  const { createDevices } = await server.gql<{ createDevices: { id: string }[] }>(
    `mutation ($id: ID!, $w: ID!, $devices: [DeviceInput!]!, $url: String) {
       createRule(productId: $id, input: { name: "rule", levels: [{ severity: WARNING, all: [${level}] }] }) { id }
       createEndpoint(workspaceId: $w, input: { name: "here", kind: WEBHOOK, url: $url, events: ["alert.fired"] }) { secret }
       createDevices(productId: $id, devices: $devices, plan: "unlimited") { id }
     }`,
    { id: createProduct.id, w: createWorkspace.id, devices, url: receiver.url },
  );
  return [server, createDevices.map(({ id }) => id)];
}

/** Each device's value is above the limit. */
function values(ids: readonly string[], onSent: (id: string) => void): NextRequest {
  let next = 0;
  return () => {
    const id = ids[next++ % ids.length]!;
    onSent(id);
    return postRequest(`/v1/devices/${id}/record/`, HEADERS, '{"field":"value","value":100}');
  };
}

async function until(isDone: () => boolean, seconds: number): Promise<void> {
  for (const by = performance.now() + seconds * 1_000; !isDone() && performance.now() < by;)
    await new Promise((resolve) => setTimeout(resolve, 5));
  if (!isDone()) throw new Error('not everything was told');
}

async function telling(url: string): Promise<Record<string, unknown>> {
  const { receiver, toldAt } = await startReceiver();
  const [server, ids] = await prepare(
    url,
    receiver,
    TELLING_DEVICES * 2,
    '{ field: "value", operator: GT, value: 50 }',
  );
  const sent = new Map<string, number>();
  const next = values(ids, (id) => sent.set(id, performance.now()));
  await generateLoad({ port: server.port, connections: CONNECTIONS, next, rate: RATE, seconds: SECONDS });
  await until(() => toldAt.size >= sent.size, 60);
  const delays = [...sent].map(([id, at]) => toldAt.get(id)! - at).sort((a, b) => a - b);
  const at = (part: number): number => Math.round(delays[Math.floor(delays.length * part)]!);
  await server.stop();
  receiver.stop();
  return { scenario: 'value to request', perSecond: RATE, told: delays.length, p50Ms: at(0.5), p99Ms: at(0.99) };
}

async function silence(url: string): Promise<Record<string, unknown>> {
  const { receiver, toldAt } = await startReceiver();
  const [server, ids] = await prepare(url, receiver, SILENT_DEVICES, `{ absentSeconds: ${SILENT_SECONDS} }`);
  const sent = new Map<string, number>();
  const next = values(ids, (id) => sent.set(id, performance.now()));
  while (sent.size < ids.length) await generateLoad({ port: server.port, connections: CONNECTIONS, next, seconds: 1 });
  const dueAt = Math.max(...sent.values()) + SILENT_SECONDS * 1_000;
  await until(() => toldAt.size >= ids.length, SILENT_SECONDS + 120);
  const last = Math.max(...toldAt.values());
  await server.stop();
  receiver.stop();
  return { scenario: 'silent at one moment', devices: ids.length, lastToldAfterMs: Math.round(last - dueAt) };
}
