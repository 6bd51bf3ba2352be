import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ServerProcess } from '../support/server-process.ts';
import { eachDatabase } from './each-database.ts';
import { END, FIELDS, type HistoryData, LATEST_DEVICES, loadHistory, MINUTE, YEAR_MINUTES } from './history-data.ts';
import { type PlainTable, plainTable } from './plain-table.ts';
import { startWriters } from './start-writers.ts';

const RUNS = 30;
const WARM = 3;
const CONNECTIONS = 20;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as (options: { type: 'minor' }) => void;

type Query = { query: string; variables?: Record<string, unknown> };

/**
 * `npm run bench -- history [sqlite|postgres]`: a year and ten years of minutes as charts over HTTP, alone and beside
 * writers at half their full rate; beside them the plain SQL over one row per value, its rows as JSON text. The first
 * chart is measured twice: as the first thirty that a server draws, and of a server that has drawn some hundreds.
 */
export async function run(args: string[]): Promise<void> {
  await eachDatabase(args[0], async ({ database, newUrl }) => scenarios(database, await newUrl()));
}

async function scenarios(database: string, url: string): Promise<void> {
  const begun = performance.now();
  const data = await loadHistory(url);
  const loadedSeconds = Math.round((performance.now() - begun) / 1000);
  print({ database, scenario: 'loaded', seconds: loadedSeconds, bytesPerValue: data.bytesPerValue });
  const server = await ServerProcess.start({ DATABASE_URL: url, WRITE_RATE_PER_FIELD: '0', LOG_LEVEL: 'info' });
  const queries = queriesOf(data);
  const [first, ...others] = Object.entries(queries);
  for (const [scenario, { query, variables, points }] of [
    [`${first![0]}, after the start`, first![1]] as const,
    ...others,
    first!,
  ])
    print({ database, scenario, ...(await measured(server, { query, variables }, points)) });
  print({ database, scenario: `latest of ${LATEST_DEVICES} devices`, ...(await latest(server)) });
  await besideWriters(database, server, data, queries);
  await server.stop();
  await ceilings(database, await plainTable(url));
}

/** What each scenario asks, and how many points it must bring. */
function queriesOf({ year, decade }: HistoryData): Record<string, Required<Query> & { points: number }> {
  const iso = (minutes: number): string => new Date(END - minutes * MINUTE).toISOString();
  const chart = (how: string, id: string): Required<Query> => ({
    query: `query ($id: ID!, $from: DateTime!, $to: DateTime!) { device(id: $id) { ${how} } }`,
    variables: { id, from: iso(YEAR_MINUTES), to: iso(0) },
  });
  const buckets = 'from: $from, to: $to, resolution: "1052m"';
  const shown = '{ timestamps values truncated }';
  const three = ['MIN', 'MAX', 'AVG'].map((name) => `${name}: history(fields: ["field_0"], ${buckets}, aggregation: ${name}) ${shown}`); // oxfmt-ignore
  return {
    'a year, 500 buckets, MIN MAX AVG': { ...chart(three.join(' '), year), points: 1_500 },
    'a year, 500 buckets, AVG': { ...chart(`history(fields: ["field_0"], ${buckets}) ${shown}`, year), points: 500 },
    'a year of days, Berlin': { ...chart(`history(fields: ["field_0"], from: $from, to: $to, resolution: "1d", timeZone: "Europe/Berlin") ${shown}`, year), points: 365 }, // oxfmt-ignore
    'a year, maxPoints 500': { ...chart(`history(fields: ["field_0"], from: $from, to: $to, maxPoints: 500) ${shown}`, year), points: 400 }, // oxfmt-ignore
    'ten fields, 500 buckets': { ...chart(`history(${buckets}) ${shown}`, year), points: 500 * FIELDS },
    'a raw day': { ...chart(`history(fields: ["field_0"], from: $from, to: $to) ${shown}`, year), variables: { id: year, from: iso(YEAR_MINUTES / 2), to: iso(YEAR_MINUTES / 2 - 1_440) }, points: 1_440 }, // oxfmt-ignore
    'ten years, 120 months': { ...chart(`history(from: $from, to: $to, fields: ["field_0"], resolution: "1mo", timeZone: "Europe/Berlin") ${shown}`, decade), variables: { id: decade, from: iso(10 * YEAR_MINUTES), to: iso(0) }, points: 120 }, // oxfmt-ignore
    'statistics of a year': { ...chart('statistics(from: $from, to: $to, fields: ["field_0"]) { count min max average }', year), points: 0 }, // oxfmt-ignore
  };
}

async function measured(server: ServerProcess, query: Query, points: number): Promise<Record<string, number>> {
  const times: number[] = [];
  for (let i = 0; i < WARM + RUNS; i++) {
    // What this process has loaded is not collected while the server draws: on two cores that was half of the p95.
    collectGarbage({ type: 'minor' });
    const begun = performance.now();
    const answer = await server.gql(query.query, query.variables);
    if (i >= WARM) times.push(performance.now() - begun);
    const found = JSON.stringify(answer).match(/\d(?=[,\]])/g)?.length ?? 0;
    // Timestamps and values: a chart that lacks points is not faster, but wrong.
    if (found < 1.9 * points) throw new Error(`${found / 2} points of ${points}: ${query.query}`);
  }
  return quantiles(times);
}

async function latest(server: ServerProcess): Promise<Record<string, number>> {
  const times: number[] = [];
  for (let i = 0; i < WARM + 10; i++) {
    const begun = performance.now();
    let after: string | null = null;
    let seen = 0;
    do {
      const { devices }: any = await server.gql(
        `query ($after: String) { devices(first: 250, after: $after, orderBy: CREATED) {
           edges { node { latest(fields: ["field_0"]) { value timestamp } } } pageInfo { hasNextPage endCursor } } }`,
        { after },
      );
      seen += devices.edges.filter((edge: any) => edge.node.latest.length === 1).length;
      after = devices.pageInfo.hasNextPage ? devices.pageInfo.endCursor : null;
    } while (after !== null);
    if (seen !== LATEST_DEVICES + 2) throw new Error(`${seen} latest values`);
    if (i >= WARM) times.push(performance.now() - begun);
  }
  return quantiles(times);
}

/** The first chart once more, while writers in another process send half of what they could. */
async function besideWriters(
  database: string,
  server: ServerProcess,
  { others }: HistoryData,
  queries: ReturnType<typeof queriesOf>,
): Promise<void> {
  const writers = startWriters();
  const order = { port: server.port, deviceIds: others, fields: FIELDS, connections: CONNECTIONS };
  const full = await writers.write({ ...order, seconds: 2 });
  const writing = writers.write({ ...order, seconds: 8, rate: full.requestsPerSecond / 2 });
  const [scenario, { query, variables, points }] = Object.entries(queries)[0]!;
  const beside = await measured(server, { query, variables }, points);
  const written = await writing;
  writers.stop();
  print({ database, scenario: `${scenario}, while writing`, ...beside, requestsPerSecond: written.requestsPerSecond, failed: written.failed }); // oxfmt-ignore
}

async function ceilings(database: string, plain: PlainTable): Promise<void> {
  for (const what of ['year', 'months'] as const) {
    const times: number[] = [];
    for (let i = 0; i < 4; i++) times.push(await plain.time(what));
    print({ database, scenario: `plain SQL, ${what}`, ...quantiles(times.slice(1)) });
  }
  await plain.close();
}

function quantiles(times: number[]): { p50Ms: number; p95Ms: number } {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number): number =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]! * 10) / 10;
  return { p50Ms: at(0.5), p95Ms: at(0.95) };
}

function print(line: Record<string, unknown>): void {
  console.log(JSON.stringify({ bench: 'history', ...line }));
}
