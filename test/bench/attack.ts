import { type AttackGround, ATTACKS, prepareGround } from '../attack/attacks.ts';
import { asking, attackedRound, recording, type Turn, type Victim } from '../attack/victim.ts';
import { startRedis } from '../support/databases.ts';
import { rounded } from '../support/figures.ts';
import { ADMIN_TOKEN, ServerProcess } from '../support/server-process.ts';
import { TestServer } from '../support/server.ts';
import { createToken } from '../support/tenant.ts';
import { eachDatabase } from './each-database.ts';

/** A server, or two nodes, with somebody's victims on one and the attacker on the other. */
interface Side {
  name: string;
  ground: AttackGround;
  victims: Record<string, Victim>;
  stop: () => Promise<void>;
}

/**
 * `npm run bench -- attack [seconds] [sqlite|postgres] [record|graphql|'graphql one by one'] [attacks,
 * a regular expression] [against]`: what the record endpoint and another token's GraphQL, of four connections and of
 * one, keep while one token does its worst (issue 9: 0.7 of their throughput, p99 below 100 ms). `against`: the folder
 * of another version, installed and built, that is measured side by side; or `apart`: two nodes with one PostgreSQL and
 * Redis, of which one has the victims and the other the attacker.
 */
export async function run(args: string[]): Promise<void> {
  const [seconds, against] = [Number(args[0] ?? 2), args[4] ?? ''];
  const chosen = Object.entries(ATTACKS).filter(([name]) => new RegExp(args[3] ?? '').test(name));
  await eachDatabase(against === 'apart' ? 'postgres' : args[1], async ({ database, newUrl }) => {
    const sides: Side[] = [];
    try {
      sides.push(await together('this', await newUrl()));
      if (against === 'apart') sides.push(await apart(await newUrl()));
      else if (against !== '') sides.push(await together(against, await newUrl(), against));
      for (const victim of ['record', 'graphql', 'graphql one by one']) {
        if (args[2] !== undefined && args[2] !== '' && args[2] !== victim) continue;
        const before = new Map<Side, Turn>();
        for (const side of sides) {
          await side.victims[victim]!(seconds);
          before.set(side, await side.victims[victim]!(seconds));
        }
        for (const [attack, begin] of chosen)
          for (const side of sides) {
            const asked = { attack: begin, ground: side.ground, seconds, before: before.get(side)! };
            const { during, after, answered, share } = await attackedRound(side.victims[victim]!, asked);
            const calmPerSecond = (asked.before.requestsPerSecond + after.requestsPerSecond) / 2;
            const ratio = rounded(during.requestsPerSecond / calmPerSecond);
            const calmP99Ms = Math.max(asked.before.p99Ms, after.p99Ms);
            const { p99Ms, failed } = during;
            console.log(JSON.stringify({ database, side: side.name, victim, attack, answered, ofThroughput: ratio, ofEventLoop: rounded(share), calmP99Ms, p99Ms, failed })); // oxfmt-ignore
            before.set(side, after);
          }
      }
    } finally {
      for (const side of sides) await side.stop();
    }
  });
}

/** The victims and the attacker on one server; `root`: of another version. */
async function together(name: string, url: string, root?: string): Promise<Side> {
  const env = { DATABASE_URL: url, WRITE_RATE_PER_FIELD: '0' };
  const server = await start(env, root);
  return { name, ...(await settle(server, server)), stop: () => server.stop() };
}

/** The attacker on a node of its own. */
async function apart(url: string): Promise<Side> {
  const redis = await startRedis();
  if (redis === null) throw new Error('this bench needs a redis-server on this machine');
  const env = { DATABASE_URL: url, REDIS_URL: redis.url, WRITE_RATE_PER_FIELD: '0' };
  const [own, other] = [await start(env), await start(env)];
  const stop = async (): Promise<void> => {
    await Promise.all([own.stop(), other.stop()]);
    await redis.stop();
  };
  return { name: 'apart', ...(await settle(own, other)), stop };
}

async function start(env: Record<string, string>, root?: string): Promise<TestServer> {
  return new TestServer(await ServerProcess.start(env, root === undefined ? {} : { root }), async () => {});
}

async function settle(own: TestServer, attacked: TestServer): Promise<Pick<Side, 'ground' | 'victims'>> {
  const ground = await prepareGround(attacked);
  const { workspaces } = await own.gql('{ workspaces { id } }');
  const { secret } = await createToken(own, ADMIN_TOKEN, workspaces[0].id, ['READ']);
  const victims = {
    record: recording(own, ground.deviceIds[0]!),
    graphql: asking(own, secret),
    'graphql one by one': asking(own, secret, 1),
  };
  return { ground, victims };
}
