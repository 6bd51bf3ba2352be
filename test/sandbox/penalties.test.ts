import { describe, expect, test } from 'vitest';
import { FairQueue, DECODER_LANES, waitingOf } from '../../src/sandbox/fair-queue.ts';
import {
  isDoubtful,
  isHeavy,
  isSlow,
  noteEnd,
  noteLong,
  noteOffence,
  noteRound,
  noteRun,
  Penalties,
} from '../../src/sandbox/penalties.ts';
import type { PoolJob, PoolProduct } from '../../src/sandbox/pool-job.ts';
import { RunStatistics } from '../../src/sandbox/run-statistics.ts';
import { ServerLoad } from '../../src/sandbox/server-load.ts';

const product = (): PoolProduct => new Penalties().of('p', 'w');
const job = (of: PoolProduct, fields: Partial<PoolJob> = {}): PoolJob => ({
  id: 1,
  product: of,
  source: { no: 1, text: '', lines: 1, traits: { usesLookups: false, needsScript: false }, trust: 0 },
  job: null,
  serials: null,
  lookedUp: null,
  inputBytes: 0,
  admitted: { product: of, inputBytes: 0, bytes: 0 },
  acceptedAt: 0,
  queuedAt: 0,
  spentMs: 0,
  usedMs: 0,
  wallMs: 0,
  chargedMs: 0,
  lane: 'fast',
  round: 0,
  isSuspect: false,
  isAlone: false,
  endedMs: 0,
  resolve: () => {},
  reject: () => {},
  ...fields,
});

test('a check of the syntax is no quick run of its source', () => {
  const checked = job(product(), { wallMs: 1 });
  noteEnd(checked, false, 0, false);
  expect(checked.source.trust).toBe(0);
});

describe('quarantine', () => {
  test('after an offence a product is let back, later each time, five minutes at most', () => {
    const bad = product();
    let now = 1_000;
    const lengths: number[] = [];
    for (let offence = 0; offence < 8; offence += 1) {
      noteOffence(bad, now, 0);
      const until = bad.quarantinedUntil;
      expect(isSlow(bad, until - 1)).toBe(true);
      expect(isSlow(bad, until)).toBe(false);
      lengths.push(until - now);
      now = until;
    }
    expect(lengths).toEqual([10, 20, 40, 80, 160, 300, 300, 300].map((seconds) => seconds * 1_000));
  });
  test('what ends together is one offence', () => {
    const bad = product();
    for (let run = 0; run < 5; run += 1) noteOffence(bad, 1_000 + run, 0);
    expect(bad.offences).toBe(1);
  });
  test('good conduct for five minutes after it makes it forgotten', () => {
    const bad = product();
    noteOffence(bad, 0, 0);
    noteRun(bad, 1, bad.quarantinedUntil + 299_999);
    expect(bad.offences).toBe(1);
    noteRun(bad, 1, bad.quarantinedUntil + 300_001);
    expect(bad.offences).toBe(0);
  });
  test('a product is slow from its first slow run on, and no longer when its runs are quick', () => {
    const slow = product();
    noteRun(slow, 200, 0);
    expect(isSlow(slow, 0)).toBe(true);
    for (let run = 0; run < 40; run += 1) noteRun(slow, 0.1, 0);
    expect(isSlow(slow, 0)).toBe(false);
  });
  test('a new product of a workspace whose others had to be ended, or are slow, shows first what it is like', () => {
    const penalties = new Penalties();
    const of = (id: string): PoolProduct => penalties.of(id, 'bad');
    noteOffence(of('first'), 0, 0);
    // One says nothing about the others, however often it has to be ended.
    noteOffence(of('first'), of('first').quarantinedUntil, 0);
    const now = of('first').quarantinedUntil - 1;
    expect([isSlow(of('second'), now), isDoubtful(of('second'), now)]).toEqual([false, false]);
    noteOffence(of('other'), now, 0);
    expect([isSlow(of('second'), now), isDoubtful(of('second'), now)]).toEqual([false, true]);
    expect(isDoubtful(of('second'), of('second').workspace.quarantinedUntil)).toBe(false);
    expect(isDoubtful(penalties.of('p', 'good'), now)).toBe(false);
    for (let run = 0; run < 9; run += 1) noteRun(of('second'), 1, now);
    expect(isDoubtful(of('second'), now)).toBe(true);
    noteRun(of('second'), 1, now);
    expect(isDoubtful(of('second'), now)).toBe(false);
    // Twice as many runs for each further one.
    noteOffence(of('third'), now, 0);
    for (let run = 0; run < 9; run += 1) noteRun(of('second'), 1, now);
    expect(isDoubtful(of('second'), now)).toBe(true);
    noteRun(of('second'), 1, now);
    expect(isDoubtful(of('second'), now)).toBe(false);
    // Nor does one long run.
    noteRun(penalties.of('first', 'slow'), 3_000, 0);
    expect(isDoubtful(penalties.of('new', 'slow'), 0)).toBe(false);
    for (let at = 0; at < 3; at += 1) noteRun(penalties.of(`${at}`, 'slow'), 150, 0);
    expect(isDoubtful(penalties.of('new', 'slow'), 300_000)).toBe(true);
    expect(isDoubtful(penalties.of('new', 'slow'), 300_001)).toBe(false);
    for (let run = 0; run < 10; run += 1) noteRun(penalties.of('new', 'slow'), 1, 0);
    expect(isDoubtful(penalties.of('new', 'slow'), 0)).toBe(false);
  });
  test('a round of a run that goes on is known at once when it was long', () => {
    const slow = product();
    noteRound(job(slow, { wallMs: 10, usedMs: 10 }), 0);
    expect([slow.runs, isSlow(slow, 0)]).toEqual([0, false]);
    for (let round = 0; round < 2; round += 1) noteRound(job(slow, { wallMs: 180, usedMs: 180 }), 0);
    expect([isSlow(slow, 0), isHeavy(slow.workspace, 0)]).toEqual([true, true]);
  });
  test('a workspace has a twentieth of the time for long runs, behind a limit of them, and two and a half seconds are kept', () => {
    const { workspace } = product();
    noteLong(workspace, 200, 0);
    expect(isHeavy(workspace, 0)).toBe(false);
    noteLong(workspace, 200, 1_000);
    // 350 of them are left.
    expect(isHeavy(workspace, 2_999)).toBe(true);
    expect(isHeavy(workspace, 3_000)).toBe(false);
    for (let run = 0; run < 100; run += 1) noteLong(workspace, 200, 3_000);
    expect(isHeavy(workspace, 47_999)).toBe(true);
    expect(isHeavy(workspace, 48_000)).toBe(false);
  });
  test('of products that nobody asked for lately no more than 10,000 are remembered', () => {
    const penalties = new Penalties();
    const first = penalties.of('first', 'w');
    for (let i = 0; i < 4_000; i += 1) penalties.of(`a${i}`, 'w');
    expect(penalties.of('first', 'w')).toBe(first);
    for (let i = 0; i < 20_000; i += 1) penalties.of(`b${i}`, 'w');
    expect(penalties.of('first', 'w')).not.toBe(first);
  });
});

describe('the queue', () => {
  test('passes over a product that rests because the server is busy, until its time has come', () => {
    const queue = new FairQueue();
    const bad = product();
    // Four times as long as its run has kept a process, five seconds at most.
    noteOffence(bad, 1_000, 250);
    queue.push(job(bad), 0);
    expect(queue.next('barred', 1_999)).toBeUndefined();
    expect(queue.next('fast', 1_999)).toBeUndefined();
    expect(queue.next('barred', 2_000)?.product).toBe(bad);
    noteOffence(bad, 2_000, 30_000);
    queue.push(job(bad), 0);
    expect(queue.next('barred', 6_999)).toBeUndefined();
    expect(queue.next('barred', 7_000)?.product).toBe(bad);
    const other = product();
    noteOffence(other, 1_000, 0);
    queue.push(job(other), 0);
    expect(queue.next('barred', 1_001)?.product).toBe(other);
  });
  test('gives the slow lane all of a workspace whose runs are long while others are there', () => {
    const queue = new FairQueue();
    const [heavy, other] = [product(), product()];
    noteLong(heavy.workspace, 2_500, 0);
    queue.push(job(heavy), 0);
    expect(queue.next('fast', 0)?.product).toBe(heavy);
    queue.push(job(other), 0);
    for (let at = 0; at < 3; at += 1) queue.push(job(heavy), 0);
    expect(queue.next('fast', 0)?.product).toBe(other);
    expect(queue.next('fast', 0)).toBeUndefined();
    expect(queue.next('slow', 0)?.product).toBe(heavy);
    expect(queue.peek('fast', 9_999)).toBeUndefined();
    expect(queue.next('fast', 10_000)?.product).toBe(heavy);
  });
  test('gives suspects and offenders, in this order, a lane where those that are only slow do not wait behind them', () => {
    const queue = new FairQueue();
    const [bad, good, slow] = [product(), product(), product()];
    noteOffence(bad, 0, 0);
    noteRun(slow, 100, 0);
    queue.push(job(bad), 0);
    queue.push(job(slow), 0);
    queue.push(job(good), 0);
    queue.pushFirst(job(good, { id: 2, isSuspect: true }), 0);
    expect(queue.next('fast', 1)).toBeUndefined();
    expect(queue.next('slow', 1)?.product).toBe(slow);
    expect(queue.next('barred', 1)?.id).toBe(2);
    expect(queue.next('fast', 1)?.product).toBe(good);
    expect(queue.next('barred', 1)?.product).toBe(bad);
    expect(queue.size).toBe(0);
  });
  test('does not go through all products that wait with each job that comes and each that ends', () => {
    const [queue, penalties] = [new FairQueue(), new Penalties()];
    let looks = 0;
    for (let at = 0; at < 1_000; at += 1) {
      const of = penalties.of(`${at}`, 'w');
      Object.defineProperty(of, 'heldUntil', { get: () => (looks += 1) * 0 });
      queue.push(job(of), 0);
    }
    for (let now = 1; now <= 100; now += 1) {
      for (const lane of DECODER_LANES) queue.peek(lane, now);
      queue.push(queue.next('fast', now)!, now);
    }
    expect(looks).toBeLessThan(2_000);
  });
  test('shares by execution time, whoever has more calls', () => {
    const queue = new FairQueue();
    const [dear, cheap] = [product(), product()];
    noteRun(dear, 8, 0);
    noteRun(cheap, 1, 0);
    for (let i = 0; i < 2_000; i += 1) queue.push(job(dear), 0);
    for (let i = 0; i < 2_000; i += 1) queue.push(job(cheap), 0);
    const served = new Map<PoolProduct, number>();
    for (let i = 0; i < 900; i += 1) {
      const next = queue.next('fast', 0)!;
      served.set(next.product, (served.get(next.product) ?? 0) + 1);
    }
    expect(served.get(cheap)! / served.get(dear)!).toBeGreaterThan(7);
    expect(served.get(cheap)! / served.get(dear)!).toBeLessThan(9);
  });
  test('by the time that runs have kept a process, also of who sends the next only when one has ended', () => {
    const queue = new FairQueue();
    const [long, many] = [product(), product()];
    for (const of of [long, many]) noteRun(of, 1, 0);
    for (let i = 0; i < 2_000; i += 1) queue.push(job(many), 0);
    const tookMs = new Map([
      [long, 0],
      [many, 0],
    ]);
    let now = 0;
    for (let i = 0; i < 1_000; i += 1) {
      if (waitingOf(long) === 0) queue.push(job(long), now);
      const next = queue.next('fast', now)!;
      const keptMs = next.product === long ? 18 : 1;
      now += keptMs;
      queue.settle(next, keptMs, now);
      tookMs.set(next.product, tookMs.get(next.product)! + keptMs);
    }
    expect(tookMs.get(many)! / tookMs.get(long)!).toBeGreaterThan(0.9);
    expect(tookMs.get(many)! / tookMs.get(long)!).toBeLessThan(1.1);
  });
  test('forgives what one took too much as time goes by, and remembers no more than two and a half seconds', () => {
    const queue = new FairQueue();
    const [heavy, other] = [product(), product()];
    const first = (now: number): PoolProduct => {
      for (const of of [heavy, other]) queue.push(job(of), now);
      const found = queue.next('fast', now)!;
      queue.settle(found, 0, now);
      for (let left = queue.next('fast', now); left !== undefined; left = queue.next('fast', now))
        queue.settle(left, 0, now);
      return found.product;
    };
    expect(first(0)).toBe(heavy);
    queue.push(job(heavy), 0);
    queue.settle(queue.next('fast', 0)!, 60_000, 0);
    expect([first(0), first(0)]).toEqual([other, other]);
    queue.push(job(heavy), 2_600);
    queue.settle(queue.next('fast', 2_600)!, 0, 2_600);
    expect(first(2_600)).toBe(heavy);
  });
  test('what was given back costs nothing', () => {
    const queue = new FairQueue();
    const [one, other] = [product(), product()];
    for (const of of [one, other]) noteRun(of, 15, 0);
    for (let i = 0; i < 4; i += 1) for (const of of [one, other]) queue.push(job(of), 0);
    const given = queue.next('fast', 0)!;
    expect(given.product).toBe(one);
    queue.settle(given, 0, 0);
    queue.pushFirst(given, 0);
    const order = [1, 2, 3].map(() => queue.next('fast', 0)!.product);
    expect(order).toEqual([other, one, other]);
  });
  test('shares among workspaces first, whoever has more products, and among the products of each', () => {
    const queue = new FairQueue();
    const penalties = new Penalties();
    const [one, other] = [product(), penalties.of('other', 'of many')];
    const many = [other, ...Array.from({ length: 4 }, (_, at) => penalties.of(`${at}`, 'of many'))];
    for (const of of [one, ...many]) noteRun(of, 15, 0);
    for (let i = 0; i < 500; i += 1) for (const of of [one, ...many]) queue.push(job(of), 0);
    const served = new Map<PoolProduct, number>();
    for (let i = 0; i < 500; i += 1) {
      const next = queue.next('fast', 0)!;
      served.set(next.product, (served.get(next.product) ?? 0) + 1);
    }
    expect([served.get(one), served.get(other)]).toEqual([250, 50]);
  });
  test("a workspace's turns in one lane cost it none in the other", () => {
    const queue = new FairQueue();
    const penalties = new Penalties();
    const [slow, quick, other] = [penalties.of('slow', 'w'), penalties.of('quick', 'w'), product()];
    noteRun(slow, 100, 0);
    for (const of of [quick, other]) noteRun(of, 5, 0);
    for (let i = 0; i < 20; i += 1) for (const of of [slow, quick, other]) queue.push(job(of), 0);
    for (let i = 0; i < 10; i += 1) expect(queue.next('slow', 0)?.product).toBe(slow);
    const served = [queue.next('fast', 0)?.product, queue.next('fast', 0)?.product];
    expect(new Set(served)).toEqual(new Set([quick, other]));
  });
  test('lets go of what it has given, though others of the product wait on', () => {
    const queue = new FairQueue();
    const good = product();
    const jobs = Array.from({ length: 2_500 }, (_, id) => job(good, { id }));
    for (const one of jobs) queue.push(one, 0);
    for (const { id } of jobs.slice(0, 2_400)) expect(queue.next('fast', 0)?.id).toBe(id);
    expect(good.line.jobs.filter((kept) => kept !== undefined)).toEqual(jobs.slice(2_400));
    queue.pushFirst(jobs[0]!, 0);
    expect([queue.next('fast', 0), queue.next('fast', 0)]).toEqual([jobs[0], jobs[2_400]]);
  });
  test('gives back what has waited too long, suspects too', () => {
    const queue = new FairQueue();
    const good = product();
    for (let at = 0; at < 4; at += 1) queue.push(job(good, { queuedAt: at, isSuspect: true }), 0);
    expect(queue.takeOlderThan(2).map(({ queuedAt }) => queuedAt)).toEqual([0, 1]);
    expect(waitingOf(good)).toBe(2);
    expect(queue.takeOlderThan(Infinity)).toHaveLength(2);
    expect([queue.size, waitingOf(good)]).toEqual([0, 0]);
  });
});

test('a thread that is at work is busy, one that waits is not', async () => {
  const load = new ServerLoad(20);
  const turn = async (worksMs: number): Promise<void> => {
    for (let tick = 0; tick < 10; tick += 1) {
      const end = performance.now() + worksMs;
      while (performance.now() < end);
      await new Promise((resolve) => setTimeout(resolve, 10));
      load.tick(performance.now());
    }
  };
  await turn(15);
  expect(load.isBusy).toBe(true);
  await turn(0);
  await turn(0);
  expect(load.isBusy).toBe(false);
  expect(load.tick(performance.now())).toBe(true);
  expect(load.tick(performance.now() + 500)).toBe(false);
});

test('statistics of 5,000 products are kept, of those that ran last', () => {
  const statistics = new RunStatistics();
  statistics.record('busy', 1, null);
  for (let i = 0; i < 11_000; i += 1) {
    statistics.record(`p${i}`, 1, null);
    if (i % 1_000 === 0) statistics.record('busy', 1, null);
  }
  expect(statistics.of('p0').runs).toBe(0);
  expect(statistics.of('busy').runs).toBe(12);
  expect(statistics.of('p10999').runs).toBe(1);
});
