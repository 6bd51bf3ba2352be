import { readFileSync } from 'node:fs';
import { rounded } from '../support/figures.ts';
import { type Costs, type Counts, predict } from './cost-model.ts';
import { PROCESSOR_PARTS } from './processor-parts.ts';

/** Devices, how often each sends, what, and how many dashboards are open meanwhile. */
export interface Fleet {
  devices: number;
  everySeconds: number;
  values: number;
  /** The part that comes by webhooks with a decoder. */
  byWebhook: number;
  dashboards: number;
}

/** What a fleet runs on. `nodes` and `replicas`: of each database. */
export interface Site {
  databases: number;
  nodes: number;
  replicas: number;
}

type Resource = 'main loop' | 'writer thread' | 'node' | 'database' | 'replicas' | 'Redis' | 'network of the database';
type Kind = 'sqlite' | 'postgres';
export type CostsOfBoth = Record<Kind, Costs>;

/** Processors of a node's machine, and of a database's. */
const NODE_PROCESSORS = 4;
const DATABASE_PROCESSORS = 16;
/** How full a resource may be: mixed loads used up to 1.8 times what their parts foretell. */
const FULL = 0.5;
const NETWORK_BYTES = 125_000_000;
/** Nodes that one database has receipt times for, and replicas that it feeds. */
const MAX_NODES = 8;
const MAX_REPLICAS = 3;
const MAX_ALL_NODES = 1_000;
/** What an open dashboard shows: devices live, and each minute charts of a week and a page of devices. */
const WATCHED = 10;
const CHARTS = 4;
const CHART_DAYS = 7;
const CHART_POINTS = 500;
const LISTED = 50;

/** How full each resource is, 1 being all of it. A site of a single node and no replica may be on SQLite. */
export function loadsOf(both: CostsOfBoth, kind: Kind, fleet: Fleet, site: Site): Map<Resource, number> {
  const costs = both[kind];
  const { nodes, databases, replicas } = site;
  const ofNode = countsOf(fleet, databases * nodes);
  // Each node with subscribers looks at all that goes into its database.
  ofNode.look = fleet.dashboards === 0 ? 0 : fleet.devices / fleet.everySeconds / databases;
  const node = predict(costs, ofNode);
  const reads =
    databaseOf(costs, { query: ofNode.query!, chart: ofNode.chart!, chunk: ofNode.chunk!, point: ofNode.point! }) *
    nodes;
  const parts = PROCESSOR_PARTS.filter((part) => part !== 'database' && part !== 'redis');
  const loads = new Map<Resource, number>([
    ['main loop', node.loop / 1e6],
    ['node', parts.reduce((sum, part) => sum + node[part], 0) / 1e6 / NODE_PROCESSORS],
  ]);
  if (kind === 'sqlite') return loads.set('writer thread', node.writer / 1e6);
  const atPrimary = node.database * nodes - (replicas > 0 ? reads : 0);
  loads.set('database', atPrimary / 1e6 / DATABASE_PROCESSORS);
  if (replicas > 0) loads.set('replicas', reads / 1e6 / DATABASE_PROCESSORS / replicas);
  // Half of what one node makes of it is the delivery, which each node gets.
  loads.set('Redis', (node.redis * nodes * (1 + nodes)) / 2 / 1e6);
  // The log goes to a standby, too.
  const log = node.logBytes * nodes * (1 + replicas);
  return loads.set('network of the database', (node.databaseBytes * nodes + log) / NETWORK_BYTES);
}

/** Each second, at one of so many nodes that share the fleet. */
function countsOf({ devices, everySeconds, values, byWebhook, dashboards }: Fleet, nodes: number): Counts {
  const messages = devices / everySeconds / nodes;
  const open = dashboards / nodes;
  const charts = (open * CHARTS) / 60;
  return {
    record: messages * (1 - byWebhook),
    recordValue: messages * (1 - byWebhook) * values,
    call: messages * byWebhook,
    callValue: messages * byWebhook * values,
    compacted: messages * values,
    watched: Math.min(open * WATCHED, devices) / everySeconds,
    event: (open * WATCHED) / everySeconds,
    query: charts,
    chart: charts,
    chunk: charts * Math.ceil((CHART_DAYS * 86_400) / everySeconds / 1_000),
    point: charts * CHART_POINTS,
    list: open / 60,
    listed: (open * LISTED) / 60,
    second: 1,
  };
}

function databaseOf(costs: Costs, counts: Counts): number {
  return predict(costs, counts).database;
}

/** The resource that is the fullest. */
function fullest(loads: Map<Resource, number>): [Resource, number] {
  return [...loads].reduce((most, next) => (next[1] > most[1] ? next : most));
}

/** A step: what was full, and on what the fleet runs afterwards. */
export interface Step {
  full: Resource;
  answer: string;
}

/** The steps from one node on SQLite to a site that holds the fleet, and what of it is the fullest then. */
export function grow(
  both: CostsOfBoth,
  fleet: Fleet,
): { kind: Kind; site: Site; steps: Step[]; next: Resource; used: number } {
  let kind: Kind = 'sqlite';
  let site: Site = { databases: 1, nodes: 1, replicas: 0 };
  const steps: Step[] = [];
  for (;;) {
    const [full, used] = fullest(loadsOf(both, kind, fleet, site));
    if (used <= FULL || site.databases * site.nodes > MAX_ALL_NODES) return { kind, site, steps, next: full, used };
    const answer = kind === 'sqlite' ? 'PostgreSQL' : answerTo(full, site, both, fleet);
    kind = 'postgres';
    if (answer === 'a node more') site = { ...site, nodes: site.nodes + 1 };
    else if (answer === 'a replica more') site = { ...site, replicas: site.replicas + 1 };
    else if (answer === 'another database')
      site = { databases: Math.ceil(site.databases * 1.1 + 0.5), nodes: 1, replicas: 0 };
    steps.push({ full, answer });
  }
}

function answerTo(full: Resource, site: Site, both: CostsOfBoth, fleet: Fleet): string {
  if ((full === 'main loop' || full === 'node') && site.nodes < MAX_NODES) return 'a node more';
  if ((full === 'database' || full === 'replicas') && site.replicas < MAX_REPLICAS) {
    const before = loadsOf(both, 'postgres', fleet, site).get(full)!;
    const after = loadsOf(both, 'postgres', fleet, { ...site, replicas: site.replicas + 1 }).get(full)!;
    // A replica that takes little away only makes the log longer.
    if (after < before * 0.8) return 'a replica more';
  }
  return 'another database';
}

/** The most devices of a kind of fleet that a site holds, and what is full then; everything grows with the devices. */
export function mostDevices(
  both: CostsOfBoth,
  kind: Kind,
  fleet: Fleet,
  site: Site,
): { devices: number; full: Resource } {
  const idle = loadsOf(both, kind, { ...fleet, devices: 0, dashboards: 0 }, site);
  const rooms = [...loadsOf(both, kind, fleet, site)].map(([resource, used]): [Resource, number] => {
    const still = idle.get(resource)!;
    return [resource, used > still ? (FULL - still) / (used - still) : Infinity];
  });
  const [full, times] = rooms.reduce((least, next) => (next[1] < least[1] ? next : least));
  return { devices: Math.floor(fleet.devices * times), full };
}

const FLEETS: Record<string, Fleet> = {
  'a building': { devices: 500, everySeconds: 60, values: 5, byWebhook: 0.5, dashboards: 3 },
  'a town of meters': { devices: 20_000, everySeconds: 900, values: 4, byWebhook: 1, dashboards: 20 },
  'a plant': { devices: 1_000, everySeconds: 1, values: 10, byWebhook: 0, dashboards: 20 },
  trackers: { devices: 20_000, everySeconds: 30, values: 6, byWebhook: 0, dashboards: 100 },
  'a country of meters': { devices: 1_000_000, everySeconds: 900, values: 4, byWebhook: 1, dashboards: 200 },
  'an operator of sensors': { devices: 200_000, everySeconds: 60, values: 10, byWebhook: 0.3, dashboards: 500 },
  'many who look': { devices: 50_000, everySeconds: 300, values: 5, byWebhook: 0.5, dashboards: 10_000 },
  plants: { devices: 100_000, everySeconds: 1, values: 10, byWebhook: 0, dashboards: 1_000 },
  'a continent': { devices: 10_000_000, everySeconds: 60, values: 5, byWebhook: 0.2, dashboards: 5_000 },
};
const SITES: Site[] = [[1, 1], [1, 2], [1, 4], [1, 8], [2, 8], [8, 8], [32, 8], [125, 8]].map(([databases, nodes]) => ({ databases: databases!, nodes: nodes!, replicas: 0 })); // prettier-ignore

/**
 * `npm run bench -- growth-model`: what fleets need, step by step from one node, by the costs that `bench -- cost` has
 * found (`costs.json`); and how many devices that send ten values each minute sites of 1 to 1,000 nodes hold. No
 * measurement: it computes.
 */
export function run(): Promise<void> {
  const both = JSON.parse(readFileSync(new URL('./costs.json', import.meta.url), 'utf8')) as CostsOfBoth;
  for (const [name, fleet] of Object.entries(FLEETS)) {
    const { steps, used, ...found } = grow(both, fleet);
    const first = steps.map(({ full, answer }) => `${full} → ${answer}`);
    print({ fleet: name, ...fleet, ...found, used: rounded(used), steps: [...new Set(first)] });
  }
  const minutes: Fleet = { devices: 1_000, everySeconds: 60, values: 10, byWebhook: 0, dashboards: 2 };
  const ways = { recorded: minutes, 'by webhook': { ...minutes, byWebhook: 1 } };
  for (const [way, fleet] of Object.entries(ways)) {
    const [single] = SITES;
    print({ way, sqlite: true, nodes: 1, ...mostDevices(both, 'sqlite', fleet, single!) });
    for (const site of SITES)
      print({ way, nodes: site.databases * site.nodes, databases: site.databases, ...mostDevices(both, 'postgres', fleet, site) }); // prettier-ignore
  }
  return Promise.resolve();
}

function print(line: Record<string, unknown>): void {
  console.log(JSON.stringify({ bench: 'growth-model', ...line }));
}
