import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Caller } from '../../src/scheduling/caller.ts';
import { FairScheduler } from '../../src/scheduling/fair-scheduler.ts';
import { pass } from '../support/turned-clock.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const SECONDS = 6;
const TOKENS = Array.from({ length: 20 }, (_, at) => ({ tokenId: `token ${at}`, tenant: 'many' }));

/** Who asks in loops, four at once each, for what takes a millisecond of the one processor; which part of the time each had. */
async function parts(shares: FairScheduler, parties: readonly Caller[]): Promise<number[]> {
  const until = performance.now() + SECONDS * 1000;
  const used = parties.map(() => 0);
  let processor: Promise<void> = Promise.resolve();
  const compute = (): Promise<void> =>
    (processor = processor.then(() => new Promise<void>((resolve) => setTimeout(resolve, 1))));
  const loop = async (party: Caller, at: number): Promise<void> => {
    while (performance.now() < until) {
      await shares.run(party, async () => {
        await compute();
        shares.spend(party, 1);
      });
      used[at]! += 1;
    }
  };
  const all = parties.flatMap((party, at) => Array.from({ length: 4 }, () => loop(party, at)));
  await pass((SECONDS + 1) * 1000);
  await Promise.all(all);
  return used.map((ms) => ms / SECONDS / 1000);
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

test('twenty tokens of a tenant leave the ingest endpoints their part, although each keeps within its burst', async () => {
  const shares = new FairScheduler();
  const recording = async (): Promise<void> => {
    for (let ms = 0; ms < SECONDS * 1000; ms += 20) {
      shares.noteOtherTraffic();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const [used] = await Promise.all([parts(shares, TOKENS), recording()]);
  expect(sum(used)).toBeLessThan(0.72);
});

test('… and another tenant’s single token more than a sixth', async () => {
  const [one, ...many] = await parts(new FairScheduler(), [{ tokenId: 'one', tenant: 'one' }, ...TOKENS]);
  expect(one).toBeGreaterThan(0.19);
  expect(sum(many)).toBeLessThan(0.85);
});

test('of tokens that have used as little as each other, who has waited longest goes first', async () => {
  const used = await parts(new FairScheduler(), TOKENS);
  expect(Math.min(...used)).toBeGreaterThan(0.03);
  expect(Math.max(...used)).toBeLessThan(0.07);
});

test('what one token has used beyond its burst no other of its tenant waits for', async () => {
  const shares = new FairScheduler();
  const [heavy, light] = TOKENS as [Caller, Caller];
  for (let ms = 0; ms < 100; ms += 20) {
    shares.noteOtherTraffic();
    await pass(20);
    shares.spend(heavy, 300);
    shares.spend(light, 0.1);
  }
  const from = performance.now();
  let began = NaN;
  void shares.begin(light).then(() => (began = performance.now()));
  await pass(10);
  expect(began).toBe(from);
});

const tenantsOf = (count: number): Caller[] =>
  Array.from({ length: count }, (_, at) =>
    TOKENS.map(({ tokenId }) => ({ tokenId: `${tokenId} of ${at}`, tenant: `tenant ${at}` })),
  ).flat();
const ONE = { tokenId: 'one', tenant: 'one' };

test.each([
  ['dear', 4, 24],
  ['little', 1, 32],
])(
  'eight tenants that begin all the %s work they can leave room for one of which nothing runs',
  async (_, weight, bound) => {
    const shares = new FairScheduler();
    let [running, most] = [0, 0];
    const work = async (): Promise<void> => {
      most = Math.max(most, (running += weight));
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      running -= weight;
    };
    const all = Promise.allSettled(tenantsOf(8).map((party) => shares.run(party, work, { expensive: weight > 1 })));
    let began = NaN;
    const from = performance.now();
    const asking = shares.begin(ONE).then(() => (began = performance.now()));
    await pass(100);
    expect(began).toBe(from);
    shares.refuse(0, new Error('over'));
    await pass(5_000);
    await Promise.all([all, asking]);
    expect(most).toBeGreaterThan(16);
    expect(most).toBeLessThanOrEqual(bound);
  },
);

test('… and what is dear does not wait until they have no little work any more', async () => {
  const shares = new FairScheduler();
  const until = performance.now() + 10_000;
  const loop = async (party: Caller, at: number): Promise<void> => {
    const ms = 500 + (at % 7) * 100;
    while (performance.now() < until) await shares.run(party, () => new Promise((resolve) => setTimeout(resolve, ms)));
  };
  const loops = tenantsOf(8).map(loop);
  await pass(1_000);
  let began = Infinity;
  const asking = shares.run(ONE, async () => void (began = performance.now()), { expensive: true });
  await pass(30_000);
  await Promise.all([...loops, asking]);
  expect(began).toBeLessThan(until - 7_000);
});

test('… and not behind all the dear work that each of many tenants waits for, but behind some of each', async () => {
  const shares = new FairScheduler();
  const until = performance.now() + 10_000;
  const loop = async (party: Caller, at: number): Promise<void> => {
    const work = () => new Promise((resolve) => setTimeout(resolve, 300 + (at % 7) * 100));
    while (performance.now() < until) await shares.run(party, work, { expensive: true });
  };
  const loops = tenantsOf(8).map(loop);
  await pass(1_000);
  let began = Infinity;
  const asking = shares.run(ONE, async () => void (began = performance.now()), { expensive: true });
  // After 160 of 600 ms, six at a time, otherwise.
  await pass(60_000);
  await Promise.all([...loops, asking]);
  expect(began).toBeLessThan(until - 6_000);
});
