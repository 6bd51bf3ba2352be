import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Attack, ATTACKS, type AttackGround, prepareGround } from '../attack/attacks.ts';
import { asking, attackedRound, recording, type Round, type Victim } from '../attack/victim.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createToken } from '../support/tenant.ts';

const SECONDS = 1;
/** So many good rounds are wanted, of so many: a busy machine only ever adds to what an attack takes. */
const GOOD = 2;
const ROUNDS = 5;
/** What others keep (issue 9), and where the machine itself is slower how many times its own p99. */
const KEPT = 0.7;
const P99_MS = 100;
const SLOWER = 3;

let server: TestServer;
let ground: AttackGround;
let other: string;

beforeAll(async () => {
  server = await startServer({ database: 'sqlite', env: { GRAPHQL_COMPILE: 'seen' } });
  ground = await prepareGround(server);
  const { workspaces } = await server.gql('{ workspaces { id } }');
  other = (await createToken(server, ADMIN_TOKEN, workspaces[0].id, ['READ'])).secret;
}, 120_000);
afterAll(async () => {
  await server?.stop();
});

function isGood({ before, during, after, share, answered }: Round): boolean {
  const calmMs = Math.max(before.p99Ms, after.p99Ms);
  const isHeard = during.p99Ms <= Math.max(P99_MS, SLOWER * calmMs) && during.failed <= during.requests / 100;
  // The attacker is slowed down, not starved.
  return isHeard && share > KEPT && answered > 0;
}

async function withstands(victim: Victim, attack: Attack): Promise<void> {
  const told: unknown[] = [];
  let good = 0;
  await victim(SECONDS);
  let before = await victim(SECONDS);
  for (let round = 0; round < ROUNDS && good < GOOD; round += 1) {
    const found = await attackedRound(victim, { attack, ground, seconds: SECONDS, before });
    if (isGood(found)) good += 1;
    const { during, after, share, answered } = found;
    told.push({ share, answered, p99Ms: during.p99Ms, failed: during.failed, calmMs: [before.p99Ms, after.p99Ms] });
    before = after;
  }
  expect(good, JSON.stringify(told)).toBe(GOOD);
}

test.each(Object.entries(ATTACKS))(
  'one token’s %s leave recording 0.7 of the event loop, and its p99',
  (_, attack) => withstands(recording(server, ground.deviceIds[0]!), attack),
  120_000,
);

test.each(['dear queries', 'imports'] as const)(
  '… and so do %s another token',
  (name) => withstands(asking(server, other), ATTACKS[name]),
  120_000,
);
