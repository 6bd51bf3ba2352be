import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ATTACKS, type AttackGround, prepareGround } from './attack/attacks.ts';
import { asking, attackedRound, recording, type Victim } from './attack/victim.ts';
import { GOOD, GOOD_OUTPUT, jobOf, outputOf, startPool } from './sandbox/pool.ts';
import { create, named, newProduct } from './support/many-devices.ts';
import { createProduct, startServer, type TestServer } from './support/server.ts';
import { ADMIN_TOKEN } from './support/server-process.ts';
import { createToken } from './support/tenant.ts';

/**
 * The only tests of this run that look at a clock, and the only ones tried again: each compares two measurements taken side
 * by side, and its bound is far from what comes on a good day and on a broken server. What is exact is in `test/timed`.
 */
describe('canaries', { retry: 2 }, () => {
  let server: TestServer;
  let ground: AttackGround;
  beforeAll(async () => {
    server = await startServer({ alone: true, database: 'sqlite' });
    ground = await prepareGround(server);
  });
  afterAll(() => server?.stop());

  /** The share of the event loop that the victim keeps beside the attack: 0.7 and more on a good day. */
  async function kept(victim: Victim, name: keyof typeof ATTACKS): Promise<number> {
    const before = await victim(0.5);
    return (await attackedRound(victim, { attack: ATTACKS[name], ground, seconds: 1, calmSeconds: 0.5, before })).share;
  }

  test('recording beside dear queries', async () => {
    expect(await kept(recording(server, ground.deviceIds[0]!), 'dear queries')).toBeGreaterThan(0.4);
  });

  test('queries beside searches', async () => {
    const { workspaces } = await server.gql('{ workspaces { id } }');
    const { secret } = await createToken(server, ADMIN_TOKEN, workspaces[0].id, ['READ']);
    expect(await kept(asking(server, secret), 'searches among many devices')).toBeGreaterThan(0.35);
  });

  test('a decoder beside one that loops for ever', async () => {
    const pool = startPool();
    const state = { isOver: false, ended: 0 };
    const hog = async (): Promise<void> => {
      while (!state.isOver) {
        await pool.run(jobOf('function Decoder() { for (;;); }', { productId: 'hog' })).catch(() => {});
        state.ended += 1;
      }
    };
    const hogs = Array.from({ length: 4 }, hog);
    try {
      await expect.poll(() => state.ended).toBeGreaterThan(4);
      const before = state.ended;
      for (let run = 0; run < 100; run += 1)
        expect(outputOf(await pool.run(jobOf(GOOD, { productId: 'good' })))).toEqual(GOOD_OUTPUT);
      // Behind each other they would have waited for a hundred of them.
      expect(state.ended - before).toBeLessThan(50);
    } finally {
      state.isOver = true;
      await pool.stop();
      await Promise.all(hogs);
    }
  });

  test('recording beside the deletion of 10,000 devices', async () => {
    const { deviceIds } = await createProduct(server, { serialNumbers: ['recorded'] });
    const ids = await create(server, await newProduct(server), named(10_000));
    let slowestMs = 0;
    const state = { isOver: false };
    const from = performance.now();
    const deleting = server
      .gql('mutation ($ids: [ID!]!) { deleteDevices(ids: $ids) }', { ids })
      .finally(() => (state.isOver = true));
    while (!state.isOver) {
      const started = performance.now();
      expect((await server.record(deviceIds[0]!, { field: 'temperature', value: 1 })).status).toBe(200);
      slowestMs = Math.max(slowestMs, performance.now() - started);
    }
    await deleting;
    // In one piece it would be all of it.
    expect(slowestMs / (performance.now() - from)).toBeLessThan(0.6);
  });
});
