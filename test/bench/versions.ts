import { median, rounded } from '../support/figures.ts';
import { childrenOf, residentMb } from '../support/processor-time.ts';
import { ServerProcess } from '../support/server-process.ts';
import { countRows } from './count-rows.ts';
import { fillDoors, throughDoors } from './doors.ts';
import { eachDatabase } from './each-database.ts';
import { generateLoad } from './generator.ts';

const CONNECTIONS = 48;
const SETTLES_MS = 5_000;

/** A version that runs, and what it has acknowledged. */
interface Side {
  server: ServerProcess;
  url: string;
  doors: ReturnType<typeof throughDoors>;
  acknowledged: number;
}

/**
 * `npm run bench -- versions <folder> [seconds] [turns] [sqlite|postgres]`: record, webhook and GraphQL of this version
 * and of the one in `folder`, installed and built, in turns: the median of the ratios, and both in requests a second.
 * Also the memory of all their processes at rest after the start. What was acknowledged is counted at the end.
 */
export async function run([folder, seconds = '3', turns = '5', only]: string[]): Promise<void> {
  if (folder === undefined) throw new Error('name the folder of another version');
  await eachDatabase(only, async ({ database, newUrl }) => {
    const sides: Side[] = [];
    try {
      for (const root of [undefined, folder]) sides.push(await start(await newUrl(), root));
      await compare(database, sides, Number(seconds), Number(turns));
    } finally {
      for (const { server } of sides) await server.stop();
    }
    for (const { url, acknowledged } of sides) {
      const rows = await countRows(url);
      if (rows !== acknowledged) throw new Error(`${acknowledged} values were acknowledged, ${rows} are there`);
    }
  });
}

async function compare(database: string, sides: readonly Side[], seconds: number, turns: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, SETTLES_MS));
  const [own, other] = sides.map(({ server }) => residentMbOfAll(server.child.pid!)) as [number, number];
  console.log(JSON.stringify({ bench: 'versions', database, scenario: 'megabytes at rest', own, other, ratio: rounded(own / other) })); // oxfmt-ignore
  for (const scenario of Object.keys(sides[0]!.doors)) {
    const ratios: number[] = [];
    const reached: [number[], number[]] = [[], []];
    for (let turn = 0; turn <= turns; turn += 1) {
      // The order changes, so that what the machine does meanwhile falls on both.
      const order = turn % 2 === 0 ? [0, 1] : [1, 0];
      for (const at of order) reached[at]!.push(await load(sides[at]!, scenario, seconds));
      // The first warms up.
      if (turn === 0) reached.forEach((all) => all.splice(0));
      else ratios.push(reached[0].at(-1)! / reached[1].at(-1)!);
    }
    console.log(JSON.stringify({ bench: 'versions', database, scenario, own: median(reached[0]), other: median(reached[1]), ratio: rounded(median(ratios)), ratios: ratios.map(rounded) })); // oxfmt-ignore
  }
}

async function start(url: string, root?: string): Promise<Side> {
  const env = { DATABASE_URL: url, WRITE_RATE_PER_FIELD: '0' };
  const server = await ServerProcess.start(env, root === undefined ? {} : { root });
  const { id, webhookId } = await fillDoors(server);
  return { server, url, doors: throughDoors(id, webhookId), acknowledged: 0 };
}

/** Requests a second. */
async function load(side: Side, scenario: string, seconds: number): Promise<number> {
  const { next, values } = side.doors[scenario]!;
  const { requests, failed, requestsPerSecond } = await generateLoad({
    port: side.server.port,
    connections: CONNECTIONS,
    seconds,
    next,
  });
  side.acknowledged += (requests - failed) * values;
  return requestsPerSecond;
}

/** Resident memory of a process and all that it has started. */
function residentMbOfAll(pid: number): number {
  return childrenOf(pid).reduce((sum, child) => sum + residentMbOfAll(child), residentMb(pid));
}
