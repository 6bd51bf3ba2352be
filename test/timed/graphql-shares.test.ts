import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Attack, ATTACKS, type AttackGround, prepareGround } from '../attack/attacks.ts';
import { asking, attackedRound, recording, type Turn, type Victim } from '../attack/victim.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createToken } from '../support/tenant.ts';

const SECONDS = 1;
/** What is the same before and after each is seen in less. */
const CALM_SECONDS = 0.5;
/** What others keep (issue 9); a machine on which they are slower than that alone may make it three times as long. */
const KEPT = 0.7;
/** What another keeps who asks for as much as it can get, too: more than the half that is its fair part. */
const FAIR = 0.55;
const P99_MS = 100;
const SLOWER = 3;

let server: TestServer;
let ground: AttackGround;
let record: Victim;
/** Who asks at four connections, and one thing after the other. */
let asks: Victim;
let asksSlowly: Victim;
/** Of each victim, for the next attack to be compared with. */
const lastCalm = new Map<Victim, Turn>();

beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  ground = await prepareGround(server);
  record = recording(server, ground.deviceIds[0]!);
  const { workspaces } = await server.gql('{ workspaces { id } }');
  const { secret } = await createToken(server, ADMIN_TOKEN, workspaces[0].id, ['READ']);
  [asks, asksSlowly] = [asking(server, secret), asking(server, secret, 1)];
});
afterAll(async () => {
  await server?.stop();
});

/**
 * The share of the event loop in the second best of two to six tries, and how often the p99 that is allowed fits into
 * the best one beside the attack: a busy machine only ever adds.
 */
async function kept(victim: Victim, attack: Attack, least = KEPT): Promise<{ share: number; late: number }> {
  const shares: number[] = [];
  let late = Infinity;
  let before: Turn = lastCalm.get(victim) ?? (await victim(SECONDS).then(() => victim(CALM_SECONDS)));
  const secondBest = (): number => shares.toSorted((a, b) => b - a)[1] ?? 0;
  while (shares.length < 2 || (shares.length < 6 && (late > 1 || secondBest() <= least))) {
    const { during, after, share } = await attackedRound(victim, {
      attack,
      ground,
      seconds: SECONDS,
      calmSeconds: CALM_SECONDS,
      before,
    });
    expect(during.failed).toBeLessThanOrEqual(during.requests / 100);
    shares.push(share);
    late = Math.min(late, during.p99Ms / Math.max(P99_MS, SLOWER * Math.max(before.p99Ms, after.p99Ms)));
    before = after;
    lastCalm.set(victim, after);
  }
  return { share: secondBest(), late };
}

const keeping = (least: number): unknown => ({
  share: expect.toSatisfy((share: number) => share > least),
  late: expect.toSatisfy((times: number) => times <= 1),
});
// What its other processes and threads do (decoders, exports, histories, passwords) is for `npm run bench -- attack` to tell.
const ON_THE_LOOP = [
  'dear queries',
  'dear subscriptions',
  'searches among many devices',
  'documents that are refused',
  'replays',
  'devices renamed',
  'imports',
  'imports of devices that nobody has',
  'imports of nothing, packed',
  'exports in loops',
] as const;

test.each(ON_THE_LOOP)(
  'one token’s %s leave recording 0.7 of the event loop, and its p99',
  async (name) => expect(await kept(record, ATTACKS[name])).toEqual(keeping(KEPT)),
  120_000,
);

test(
  '… and its dear queries another token',
  async () => expect(await kept(asks, ATTACKS['dear queries'])).toEqual(keeping(KEPT)),
  120_000,
);

test.each(['histories of many points', 'searches among many devices', 'documents that are refused'] as const)(
  '… and its %s another one that asks for one thing after the other',
  async (name) => expect(await kept(asksSlowly, ATTACKS[name], FAIR)).toEqual(keeping(FAIR)),
  120_000,
);
