import { ATTACKS, prepareGround } from '../attack/attacks.ts';
import { asking, attackedRound, recording } from '../attack/victim.ts';
import { ADMIN_TOKEN, ServerProcess } from '../support/server-process.ts';
import { TestServer } from '../support/server.ts';
import { createToken } from '../support/tenant.ts';
import { eachDatabase } from './each-database.ts';

/**
 * `npm run bench -- attack [seconds] [sqlite|postgres] [record|graphql|'graphql one by one'] [attacks,
 * a regular expression]`: what the record endpoint and another token's GraphQL, of four connections and of one, keep
 * while one token does its worst (issue 9: 0.7 of their throughput, p99 below 100 ms).
 */
export async function run(args: string[]): Promise<void> {
  const seconds = Number(args[0] ?? 2);
  const chosen = Object.entries(ATTACKS).filter(([name]) => new RegExp(args[3] ?? '').test(name));
  await eachDatabase(args[1], async ({ database, newUrl }) => {
    const env = { DATABASE_URL: await newUrl(), WRITE_RATE_PER_FIELD: '0' };
    const server = new TestServer(await ServerProcess.start(env), async () => {});
    try {
      const ground = await prepareGround(server);
      const { workspaces } = await server.gql('{ workspaces { id } }');
      const other = await createToken(server, ADMIN_TOKEN, workspaces[0].id, ['READ']);
      const victims = {
        record: recording(server, ground.deviceIds[0]!),
        graphql: asking(server, other.secret),
        'graphql one by one': asking(server, other.secret, 1),
      };
      for (const [victim, turn] of Object.entries(victims)) {
        if (args[2] !== undefined && args[2] !== victim) continue;
        await turn(seconds);
        let before = await turn(seconds);
        for (const [attack, begin] of chosen) {
          const { during, after, answered, share } = await attackedRound(turn, {
            attack: begin,
            ground,
            seconds,
            before,
          });
          const calmPerSecond = (before.requestsPerSecond + after.requestsPerSecond) / 2;
          const ratio = round(during.requestsPerSecond / calmPerSecond);
          const calmP99Ms = Math.max(before.p99Ms, after.p99Ms);
          const { p99Ms, failed } = during;
          console.log(JSON.stringify({ database, victim, attack, answered, ofThroughput: ratio, ofEventLoop: round(share), calmP99Ms, p99Ms, failed })); // oxfmt-ignore
          before = after;
        }
      }
    } finally {
      await server.stop();
    }
  });
}

const round = (value: number): number => Math.round(value * 100) / 100;
