import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { PenaltyBucket } from '../../src/scheduling/penalty-bucket.ts';
import { ActiveTenants } from '../../src/scheduling/active-tenants.ts';

const nothing = async (): Promise<number> => 0;
const free = (): number => 0;

test('works of fractions of a millisecond beside each other leave nothing behind that holds up a larger one', async () => {
  const penalties = new PenaltyBucket(new ActiveTenants(), {
    name: 'test',
    burstMs: 50,
    maxRunningMs: 10,
    refusal: 'too much',
  });
  for (let time = 0; time < 200; time += 1) {
    const ends: (() => void)[] = [];
    const works = [0.1, 0.2, 0.7 / 3, 1 / 7].map((ms) =>
      penalties.run({ tenant: 'w', source: 's', ms }, () => new Promise<void>((end) => ends.push(end)), free),
    );
    await new Promise(setImmediate);
    // In another order than they began.
    for (const at of [2, 0, 3, 1]) ends[at]!();
    await Promise.all(works);
    const larger = penalties.run({ tenant: 'w', source: 's', ms: 20 }, nothing, free);
    const late = new Promise<string>((resolve) => setTimeout(() => resolve('it waits for ever'), 500));
    expect(await Promise.race([larger, late])).toBe(0);
  }
});

test('what is held against a tenant for one kind of work does not hold up another', async () => {
  let now = 0;
  const senders = new ActiveTenants(() => now);
  const bodies = new PenaltyBucket(senders, { name: 'test', burstMs: 300, refusal: 'too much' });
  const lookUps = new PenaltyBucket(senders, { name: 'test', burstMs: 50, refusal: 'too much' });
  await senders.during('w', () => bodies.run({ tenant: 'w', source: 's', ms: 600 }, nothing, () => 600));
  let began = 0;
  const begin = async (): Promise<number> => (began += 1);
  const others = senders.during('other', () => new Promise((resolve) => setTimeout(resolve, 300)));
  const lookUp = senders.during('w', () => lookUps.run({ tenant: 'w', source: 's', ms: 5 }, begin, free));
  const body = senders.during('w', () => bodies.run({ tenant: 'w', source: 's', ms: 5 }, begin, free));
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(began).toBe(1);
  now += 5_000;
  await Promise.all([lookUp, body, others]);
  expect(began).toBe(2);
});

test('what waits does not begin, and is kept no longer, when nobody waits for it any more', async () => {
  const penalties = new PenaltyBucket(new ActiveTenants(), {
    name: 'test',
    burstMs: 50,
    maxRunningMs: 10,
    refusal: 'too much',
  });
  let end = (): void => {};
  const running = penalties.run(
    { tenant: 'w', source: 's', ms: 20 },
    () => new Promise<void>((ends) => (end = ends)),
    free,
  );
  let [isGone, begun] = [false, 0];
  const begin = async (): Promise<number> => (begun += 1);
  const waiting = Array.from({ length: 3 }, (_, at) =>
    penalties.run({ tenant: 'w', source: `${at % 2}`, ms: 20, isAbandoned: () => isGone && at > 0 }, begin, free),
  );
  await new Promise((resolve) => setTimeout(resolve, 100));
  isGone = true;
  const outcomes = Promise.allSettled(waiting.slice(1));
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  end();
  await Promise.all([running, waiting[0]]);
  expect(begun).toBe(1);
});

test('what has begun comes to its end beside others, however many come, and come again whenever they are refused', async () => {
  const senders = new ActiveTenants();
  const penalties = new PenaltyBucket(senders, { name: 'test', burstMs: 50, maxRunningMs: 10, refusal: 'too much' });
  const others = setInterval(() => senders.note('other'), 10);
  const sending = { isOver: false };
  let [pieces, ended, refusedAmid] = [0, 0, 0];
  const piece = async (): Promise<void> => {
    await pause(1);
    pieces += 1;
  };
  const send = async (): Promise<void> => {
    for (let at = 0; !sending.isOver;) {
      try {
        for (at = 0; at < 4; at += 1)
          await penalties.run({ tenant: 'w', source: 's', ms: 5, isContinuation: at > 0 }, piece, () => 2);
        ended += 1;
      } catch {
        if (at > 0) refusedAmid += 1;
        await pause(5);
      }
    }
  };
  const sent = Array.from({ length: 10 }, send);
  await pause(1_000);
  sent.push(...Array.from({ length: 400 }, send));
  await pause(1_000);
  [pieces, ended] = [0, 0];
  await pause(2_000);
  expect(refusedAmid).toBe(0);
  expect((ended * 4) / pieces).toBeGreaterThan(0.5);
  sending.isOver = true;
  clearInterval(others);
  await Promise.all(sent);
});
