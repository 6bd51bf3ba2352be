import { startRedis } from '../support/databases.ts';
import { ServerProcess } from '../support/server-process.ts';
import { countRows } from './count-rows.ts';
import { eachDatabase } from './each-database.ts';
import { fillDoors, throughDoors } from './doors.ts';
import { generateLoad } from './generator.ts';

const CONNECTIONS = 48;

/**
 * `npm run bench -- workers [seconds] [1,2,4]`: record, webhook and GraphQL on so many workers, on PostgreSQL and Redis:
 * requests a second, and as a multiple of the first. Workers get no processors of their own: the database, Redis and the
 * generator want some, too. What was acknowledged is counted in the database at the end.
 */
export async function run(args: string[]): Promise<void> {
  const seconds = Number(args[0] ?? 5);
  const numbers = (args[1] ?? '1,2,4').split(',').map(Number);
  const redis = await startRedis();
  if (redis === null) throw new Error('this bench needs a redis-server on this machine');
  try {
    await eachDatabase('postgres', async ({ newUrl }) => {
      const first = new Map<string, number>();
      for (const workers of numbers)
        await measure(workers, { DATABASE_URL: await newUrl(), REDIS_URL: redis.url }, seconds, first);
    });
  } finally {
    await redis.stop();
  }
}

async function measure(
  workers: number,
  env: { DATABASE_URL: string; REDIS_URL: string },
  seconds: number,
  first: Map<string, number>,
): Promise<void> {
  const server = await ServerProcess.start({ ...env, WORKERS: String(workers), WRITE_RATE_PER_FIELD: '0' });
  const { id, webhookId } = await fillDoors(server);
  let acknowledged = 0;
  for (const [scenario, { next, values }] of Object.entries(throughDoors(id, webhookId))) {
    const load = async (during: number) => {
      const result = await generateLoad({ port: server.port, connections: CONNECTIONS, seconds: during, next });
      acknowledged += (result.requests - result.failed) * values;
      return result;
    };
    await load(seconds / 3);
    const { requestsPerSecond, p50Ms, p99Ms, failed } = await load(seconds);
    if (!first.has(scenario)) first.set(scenario, requestsPerSecond);
    const times = Math.round((requestsPerSecond / first.get(scenario)!) * 100) / 100;
    console.log(
      JSON.stringify({ bench: 'workers', scenario, workers, requestsPerSecond, times, p50Ms, p99Ms, failed }),
    );
  }
  const exit = await server.stop();
  const rows = await countRows(env.DATABASE_URL);
  if (exit !== 0 || rows !== acknowledged)
    throw new Error(`${acknowledged} values were acknowledged, ${rows} are there (exit ${exit})`);
}
