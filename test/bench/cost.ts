import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startRedis } from '../support/databases.ts';
import { childrenWith } from '../support/processor-time.ts';
import { ServerProcess } from '../support/server-process.ts';
import { call, chart, fillPlace, inTurn, list, type Operation, type Place, record, subscribe } from './cost-loads.ts';
import { type Costs, fitCosts, type Measured, micros, predict, UNITS } from './cost-model.ts';
import { countRows } from './count-rows.ts';
import { eachDatabase } from './each-database.ts';
import { generateLoad } from './generator.ts';
import { loadHistory } from './history-data.ts';
import { type Amounts, between, type Look, type Part, PARTS, PROCESSOR_PARTS, usedSoFar } from './processor-parts.ts';

const WRITERS = 48;
const READERS = 12;
const CALLERS = 12;
/** A decoder that had no processor for long is ended. */
const MOST_FAILED = 0.05;
const ROUNDS = 2;
/** Readings are sorted in, and signs of life written, about a second after the answer. */
const AFTERWARDS_MS = 1_500;
/** Maximum seconds per load. */
const LONGEST = 120;
const COMPACTED_WITHIN_MS = 180_000;
/** Minimum part of a load for a part's own error to be told. */
const LEAST_PART = 0.1;

interface Load {
  operations: Operation[];
  connections: number;
  /** Code is compiled and inlined by how often it runs, so a load is a number of requests and not of seconds. */
  requests: number;
  /** Subscribers of each device that is watched, and whether others are written to. */
  subscribers?: number;
  rate?: number;
}

/**
 * `npm run bench -- cost [times] [sqlite|postgres]`: processor time and bytes in each part of a node, its database and
 * Redis (with PostgreSQL) for loads of one kind; what they say each request, value, chart and device costs; and how far
 * that is from what mixed loads use. Processor time, as it hardly depends on what else the machine does. `chart`: of a
 * series. `times`: as many requests.
 */
export async function run(args: string[]): Promise<void> {
  const times = Number(args[0] ?? 1);
  const redis = await startRedis();
  try {
    await eachDatabase(args[1], async ({ database, newUrl }) => {
      const url = await newUrl();
      const isPostgres = database === 'postgres';
      if (isPostgres && redis === null) throw new Error('this bench needs a redis-server on this machine');
      await measureAll(database, url, isPostgres ? { REDIS_URL: redis!.url } : {}, times);
    });
  } finally {
    await redis?.stop();
  }
}

async function measureAll(on: string, url: string, more: Record<string, string>, times: number): Promise<void> {
  const { year, others } = await loadHistory(url, true);
  const env = { DATABASE_URL: url, WRITE_RATE_PER_FIELD: '0', LOG_LEVEL: 'info', ...more };
  const server = await ServerProcess.start(env);
  const place = await fillPlace(server, year);
  const known = loadsOfOneKind(place, others);
  const loads = { ...known, ...mixedLoads(place, others) };
  const least = new Map<string, Run>();
  for (let round = 0; round <= ROUNDS; round++)
    for (const [load, how] of Object.entries(loads)) {
      const run = await measured(server, url, place, how, times);
      // The first is to get warm; of the others the one counts that was disturbed less.
      if (round === 0) continue;
      if (run.failed > MOST_FAILED * run.requests)
        throw new Error(`${run.failed} of ${run.requests} answers of ${load} were no 200`);
      print({ on, load, requests: run.requests, micros: Math.round(micros(run.used) / run.requests), ...each(run.used, run.requests) }); // oxfmt-ignore
      const before = least.get(load);
      if (before === undefined || micros(run.used) / run.requests < micros(before.used) / before.requests) least.set(load, run); // oxfmt-ignore
    }
  await server.stop();
  const compacted = await compacting(env, url);
  print({ on, compacted: compacted.counts.compacted, ...each(compacted.used, compacted.counts.compacted!) });
  const costs = fitCosts([...Object.keys(known).map((load) => least.get(load)!), compacted]);
  for (const [load, run] of least) print({ on, [load in known ? 'fitted' : 'unseen']: load, ...errors(costs, run) });
  for (const unit of UNITS) print({ on, unit, ...rounded(costs[unit]) });
}

/** What the costs are fitted to. */
function loadsOfOneKind(place: Place, others: readonly string[]): Record<string, Load> {
  const { devices } = place;
  const writing = (requests: number, operation: Operation, subscribers?: number): Load => ({
    operations: [operation],
    connections: operation.counts.call === undefined ? WRITERS : CALLERS,
    requests,
    ...(subscribers === undefined ? {} : { subscribers }),
  });
  const reading = (requests: number, operation: Operation): Load => ({
    operations: [operation],
    connections: READERS,
    requests,
  });
  return {
    'record 1': writing(6_000, record(others, 1)),
    'record 10': writing(4_000, record(others, 10)),
    // So few devices that they are due for compaction at the end.
    'record 100': writing(2_000, record(others.slice(0, 20), 100)),
    'webhook 1': writing(1_500, call(place, 1)),
    'webhook 10': writing(1_500, call(place, 10)),
    'record 10, others watched': writing(3_000, record(others, 10, 0), 1),
    'record 10, a subscriber each': writing(3_000, record(devices, 10, 1), 1),
    'record 10, five subscribers each': writing(1_500, record(devices, 10, 5), 5),
    'chart of a day': reading(200, chart(place, 1)),
    'chart of a day, by hours': reading(300, chart(place, 1, 1, 60)),
    'chart of a day, ten fields by hours': reading(100, chart(place, 1, 10, 60)),
    'chart of a year': reading(120, chart(place, 364, 1, 1_052)),
    'chart of a year, four fields': reading(40, chart(place, 364, 4, 1_052)),
    // Written to meanwhile, as latest values that nobody writes are not looked for again.
    'record 10, latest of 10 devices': {
      ...reading(800, list(place, 10)),
      operations: [record(devices, 10), list(place, 10)],
    },
    'record 10, latest of 50 devices': {
      ...reading(800, list(place, 50)),
      operations: [record(devices, 10), list(place, 50)],
    },
  };
}

/** What they are checked against. */
function mixedLoads(place: Place, others: readonly string[]): Record<string, Load> {
  const { devices } = place;
  const gateways = [record(others, 5), record(others, 30), record(others, 5), record(others, 5), chart(place, 30, 2, 120)]; // oxfmt-ignore
  return {
    'gateways and charts of a month': { operations: gateways, connections: 32, requests: 1_000 },
    'networks and lists': {
      operations: [call(place, 4), call(place, 4), list(place, 25)],
      connections: CALLERS,
      requests: 1_000,
    },
    'a busy dashboard': {
      operations: [record(devices, 4, 3), record(devices, 4, 3), chart(place, 7, 3, 20), list(place, 50)],
      connections: 32,
      requests: 800,
      subscribers: 3,
    },
    'gateways, 100 a second': { operations: gateways, connections: 32, requests: 1_000, rate: 100 },
  };
}

type Run = Measured & { requests: number; failed: number };

async function measured(server: ServerProcess, url: string, place: Place, load: Load, times: number): Promise<Run> {
  const { operations, connections, subscribers, rate } = load;
  const unsubscribe = subscribers === undefined ? () => {} : await subscribe(server.port, place.devices, subscribers);
  const begun = performance.now();
  const used = await watch(server, url);
  const { counts, next } = inTurn(operations);
  const options = {
    port: server.port,
    connections,
    seconds: LONGEST,
    requests: load.requests * times,
    next,
    ...(rate === undefined ? {} : { rate }),
  };
  const { requests, failed, bytes } = await generateLoad(options);
  await sleep(AFTERWARDS_MS);
  const amounts = { ...(await used()), clientBytes: bytes };
  unsubscribe();
  return { requests, failed, counts: { ...counts, second: (performance.now() - begun) / 1_000 }, used: amounts };
}

/** All that was recorded goes into chunks on a server whose window is short. */
async function compacting(env: Record<string, string>, url: string): Promise<Measured> {
  const before = await countRows(url, 'chunked');
  const server = await ServerProcess.start({ ...env, LIVE_WINDOW_SECONDS: '10' });
  const begun = performance.now();
  const used = await watch(server, url);
  let [last, now] = [before, before];
  do {
    await sleep(5_000);
    [last, now] = [now, await countRows(url, 'chunked')];
  } while ((now === before || now > last) && performance.now() < begun + COMPACTED_WITHIN_MS);
  const counts = { compacted: now - before, second: (performance.now() - begun) / 1_000 };
  const run = { counts, used: await used() };
  await server.stop();
  return run;
}

/** Begins to watch; the function tells what was used since. */
async function watch(server: ServerProcess, url: string): Promise<() => Promise<Amounts>> {
  const [postgresPid] = childrenWith('bin/postgres');
  const [redisPid] = childrenWith('redis-server');
  const isPostgres = !url.startsWith('sqlite:');
  const look = async (): Promise<Look> => {
    const used = usedSoFar({
      pid: server.child.pid!,
      ...(isPostgres ? { postgres: { pid: postgresPid!, port: new URL(url).port }, redisPid: redisPid! } : {}),
    });
    return isPostgres ? { ...used, logBytes: await logPosition(url) } : used;
  };
  const before = await look();
  return async () => between(before, await look());
}

async function logPosition(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ at: string }>("SELECT pg_current_wal_lsn() - '0/0' AS at");
  await client.end();
  return Number(rows[0]!.at);
}

/** Relative errors: of all processor time, and of each part that matters; below zero: less was used than foretold. */
function errors(costs: Costs, { counts, used, requests }: Run): Record<string, number> {
  const foretold = predict(costs, counts);
  const error = (measuredAmount: number, ofModel: number): number =>
    Math.round((measuredAmount / ofModel - 1) * 1_000) / 1_000;
  const all = micros(used);
  const parts = PROCESSOR_PARTS.filter((part) => used[part] >= LEAST_PART * all);
  const bytes = PARTS.slice(PROCESSOR_PARTS.length).filter((part) => used[part] > 0);
  return {
    requests,
    micros: Math.round(all / requests),
    error: error(all, micros(foretold)),
    ...Object.fromEntries([...parts, ...bytes].map((part) => [part, error(used[part], foretold[part])])),
  };
}

function each(used: Amounts, count: number): Partial<Amounts> {
  return rounded(Object.fromEntries(PARTS.map((part) => [part, used[part] / count])) as Amounts);
}

/** Without what is nothing. */
function rounded(amounts: Amounts): Partial<Amounts> {
  const entries = Object.entries(amounts) as [Part, number][];
  return Object.fromEntries(entries.map(([part, amount]) => [part, Math.round(amount * 100) / 100]).filter(([, amount]) => amount !== 0)); // oxfmt-ignore
}

function print(line: Record<string, unknown>): void {
  console.log(JSON.stringify({ bench: 'cost', ...line }));
}
