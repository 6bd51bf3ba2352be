import { ServerProcess } from '../support/server-process.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { LiveReader } from './live-reader.ts';
import { pause } from './pause.ts';
import { Writer } from './writer.ts';

/** One run: on SQLite one node, on PostgreSQL with Redis two. */
export interface SoakOptions {
  seed: number;
  seconds: number;
  databaseUrl: string;
  redisUrl: string | null;
  /** Told of each thing that is done to the servers. */
  log?: (line: string) => void;
}

/** What was seen: enough of everything for the run to mean something. */
export interface SoakOutcome {
  moments: number;
  corrected: number;
  restarts: number;
  drops: number;
  resumed: number;
  retried: number;
}

const WRITERS = 4;
const READERS = 6;
const READY_MS = 120_000;

/**
 * Writes at random while connections drop and servers are ended (SIGTERM and SIGKILL) and started again; throws unless
 * every reader that goes on with `after:` has every moment, in the order of its device, twice only what was written
 * twice, and in the end what the database has.
 */
export async function soak({
  seed,
  seconds,
  databaseUrl,
  redisUrl,
  log = () => {},
}: SoakOptions): Promise<SoakOutcome> {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const start = (): Promise<ServerProcess> =>
    ServerProcess.start({
      DATABASE_URL: databaseUrl,
      WRITE_RATE_PER_FIELD: '0',
      ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }),
    });
  const nodes: (ServerProcess | null)[] = [await start()];
  if (redisUrl !== null) nodes.push(await start());
  /** Any node that is there, or was: whoever asks may find it gone. */
  const url = (): string =>
    nodes[below(nodes.length)]?.url ?? nodes.find((node) => node !== null)?.url ?? 'http://127.0.0.1:9';
  const deviceIds = await createDevices(nodes[0]!);
  const writers = deviceIds.map((deviceId) => new Writer({ deviceId, url, random }));
  const readers = Array.from({ length: READERS }, (_, at) => {
    const wanted = at % 2 === 0 ? deviceIds : deviceIds.filter((_id, device) => device % 2 === (at % 4) >> 1);
    return new LiveReader({ deviceIds: wanted, url, random });
  });
  const outcome: SoakOutcome = { moments: 0, corrected: 0, restarts: 0, drops: 0, resumed: 0, retried: 0 };
  const chaos = { isOver: false };
  try {
    await begun(readers, writers);
    const end = Date.now() + seconds * 1000;
    const writing = writers.map((writer) => writer.run(() => Date.now() >= end));
    const dropping = (async () => {
      while (!chaos.isOver) {
        await pause(50 + below(400));
        if (readers[below(readers.length)]!.drop()) outcome.drops += 1;
      }
    })();
    const restarting = (async () => {
      while (Date.now() < end) {
        await pause(500 + below(1_500));
        const at = below(nodes.length);
        const signal = below(2) === 0 ? 'SIGTERM' : 'SIGKILL';
        log(`${signal} to node ${at}`);
        const ending = nodes[at]!;
        // Whoever asks meanwhile may still find it.
        await ending.stop(signal);
        nodes[at] = null;
        await pause(below(500));
        nodes[at] = await start();
        outcome.restarts += 1;
      }
    })();
    await Promise.all([...writing, restarting]);
    chaos.isOver = true;
    await dropping;
    for (const writer of writers) await writer.finish();
    const written = new Map(writers.map((writer) => [writer.deviceId, writer]));
    for (const [at, reader] of readers.entries()) await reader.until(written, `reader ${at} of seed ${seed}`);
    for (const writer of writers) {
      const stored = await writer.stored(url());
      for (const reader of readers) await reader.compare(writer.deviceId, stored);
      outcome.moments += writer.moments;
      outcome.corrected += writer.corrected;
      outcome.retried += writer.retried;
    }
    outcome.resumed = readers.reduce((sum, reader) => sum + reader.resumed, 0);
    return outcome;
  } finally {
    chaos.isOver = true;
    for (const reader of readers) reader.end();
    await Promise.all(nodes.flatMap((node) => node?.stop() ?? []));
  }
}

/** Until each reader has an event of each of its devices: from then on it has a cursor, and nothing may be missing. */
async function begun(readers: readonly LiveReader[], writers: readonly Writer[]): Promise<void> {
  const until = Date.now() + READY_MS;
  while (!readers.every((reader) => reader.hasBegun)) {
    if (Date.now() > until) throw new Error('the readers got nothing at all');
    for (const writer of writers) await writer.warmUp();
    await pause(100);
  }
}

async function createDevices(server: ServerProcess): Promise<string[]> {
  const { createProduct: product } = await server.gql<{ createProduct: { id: string } }>(
    'mutation { createProduct(input: { name: "soak", fields: [{ identifier: "n", type: FLOAT }] }) { id } }',
  );
  const devices = Array.from({ length: WRITERS }, (_, at) => ({ name: `device ${at}` }));
  const { createDevices: created } = await server.gql<{ createDevices: { id: string }[] }>(
    'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices, plan: "unlimited") { id } }',
    { id: product.id, devices },
  );
  return created.map(({ id }) => id);
}
