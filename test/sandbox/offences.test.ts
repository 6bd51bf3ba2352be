import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import type { DecoderJob } from '../../src/domain/decoders/decoder-engine.ts';
import type { DecoderPool } from '../../src/sandbox/decoder-pool.ts';
import { FRAME } from '../../src/sandbox/frames.ts';
import { childrenWith, processorMs } from '../support/processor-time.ts';
import { GOOD, GOOD_OUTPUT, jobOf, outputOf, restingPool, startPool, valueOf, webhookInput } from './pool.ts';

let pool: DecoderPool;
afterEach(() => pool.stop());

const LOOP = 'function Decoder() { for (;;); }';

/** The decoder processes of this test's process. */
const processes = (): number[] => childrenWith('decoder.worker');

/** Until a process stands by for those that would wait: a start computes all the time. */
async function spareIsUp(): Promise<void> {
  let [used, looks] = [NaN, 0];
  while (looks < 4) {
    await sleep(100);
    const now = processes().reduce((sum, pid) => sum + processorMs(pid), 0);
    looks = processes().length > 1 && now === used ? looks + 1 : 0;
    used = now;
  }
}

describe('calls beside those that offend', () => {
  test('the calls beside a first offence wait and do not fail', async () => {
    pool = startPool({ timeoutMs: 80 });
    await valueOf(pool, 'return []');
    const hogs = Promise.allSettled(Array.from({ length: 3 }, () => pool.run(jobOf(LOOP, { productId: 'hog' }))));
    const good = await Promise.all(Array.from({ length: 40 }, () => pool.run(jobOf(GOOD, { productId: 'good' }))));
    for (const result of good) expect(outputOf(result)).toEqual(GOOD_OUTPUT);
    await pool.stop();
    for (const hog of await hogs) {
      // What the machine had no time for is refused.
      if (hog.status === 'fulfilled') expect(hog.value.error).toMatchObject({ kind: 'TIMEOUT' });
      else expect(['OVERLOADED', 'UNAVAILABLE']).toContain((hog.reason as { code: string }).code);
    }
  });

  test('a long run goes on aside, and the others do not wait for its end', async () => {
    pool = startPool({ timeoutMs: 20_000 });
    for (let at = 0; at < 50; at += 1) expect(outputOf(await pool.run(jobOf(GOOD)))).toEqual(GOOD_OUTPUT);
    await spareIsUp();
    const state = { isLong: true };
    const long = pool
      .run(jobOf('function Decoder() { var end = Date.now() + 1000; while (Date.now() < end); return [1] }'))
      .finally(() => (state.isLong = false));
    let meanwhile = 0;
    while (state.isLong && meanwhile < 5) {
      expect(outputOf(await pool.run(jobOf(GOOD, { productId: 'good' })))).toEqual(GOOD_OUTPUT);
      if (state.isLong) meanwhile += 1;
    }
    expect(meanwhile).toBeGreaterThan(0);
    expect(outputOf(await long)).toEqual([1]);
  });

  test('a product that is only slow does not wait for the runs of one that had to be ended', async () => {
    pool = startPool({ timeoutMs: 600 });
    const slow = (): Promise<unknown> =>
      valueOf(pool, 'var end = Date.now() + 60; while (Date.now() < end); return [1]', { workspaceId: 'slow' });
    const bad = () => pool.run(jobOf(LOOP, { productId: 'bad', workspaceId: 'bad' }));
    expect((await bad()).error).toMatchObject({ kind: 'TIMEOUT' });
    // Its first run shows that it is slow, the second that its process is up.
    for (let i = 0; i < 2; i += 1) expect(await slow()).toEqual([1]);
    const state = { isBad: true };
    const ended = bad().finally(() => (state.isBad = false));
    expect(await slow()).toEqual([1]);
    expect(state.isBad).toBe(true);
    expect((await ended).error).toMatchObject({ kind: 'TIMEOUT' });
  });

  test('jobs that were beside one that killed its process are run again, and it alone is blamed', async () => {
    pool = startPool();
    // Trusted sources share a process without writing after each run, so that blame has to be found out.
    const sources = Array.from(
      { length: 4 },
      (_, i) => `function Decoder(r) { if (r.body === 'kill') { var a = 3n; for (;;) a *= a } return [${i}] }`,
    );
    for (const source of sources) for (let i = 0; i < 12; i += 1) await pool.run(jobOf(source, { productId: source }));
    const kill = jobOf('', {}).input.replace('"body":""', '"body":"kill"');
    const results = await Promise.all(
      sources.flatMap((source, i) =>
        Array.from({ length: 6 }, (_, n) =>
          pool.run(jobOf(source, { productId: source, ...(i === 1 && n === 3 ? { input: kill } : {}) })),
        ),
      ),
    );
    results.forEach((result, at) => {
      if (at === 9) expect(result.error).toMatchObject({ kind: 'TIMEOUT' });
      else expect(outputOf(result)).toEqual([Math.floor(at / 6)]);
    });
  });
});

describe('a source that was quick, and is long all at once,', () => {
  const source = 'function Decoder(r) { var end = Date.now() + +r.body; while (Date.now() < end); return [] }';
  const lasting = (ms: number): DecoderJob =>
    jobOf(source, { workspaceId: 'other', productId: 'bad', input: webhookInput({ body: String(ms) }) });
  const good = (): DecoderJob => jobOf(GOOD, { productId: 'good' });
  /** Both sources are trusted from then on: they share a window. */
  const gainTrust = async (): Promise<void> => {
    for (let i = 0; i < 30; i += 1) await Promise.all([pool.run(lasting(0)), pool.run(good())]);
  };

  test('does not keep those behind it in its process waiting for its end', async () => {
    pool = startPool({ timeoutMs: 500 });
    await gainTrust();
    await spareIsUp();
    const state = { isLong: true };
    const long = pool.run(lasting(119_000));
    long.then(
      () => (state.isLong = false),
      // Given back at the end of the test.
      () => {},
    );
    const behind = await Promise.all(Array.from({ length: 5 }, () => pool.run(good())));
    expect(state.isLong).toBe(true);
    for (const result of behind) expect(outputOf(result)).toEqual(GOOD_OUTPUT);
  });

  test('is ended in time also where what stands behind it has not left for its process yet', async () => {
    pool = startPool();
    const endless = `function Decoder(r) { if (r.body === 'kill') { return [].indexOf.call({ length: 2 ** 53 - 1 }, 1) } return [] }`;
    const bad = (body: string): DecoderJob =>
      jobOf(endless, { workspaceId: 'other', productId: 'bad', input: webhookInput({ body }) });
    for (let i = 0; i < 30; i += 1) await Promise.all([pool.run(bad('')), pool.run(good())]);
    await spareIsUp();
    const large = jobOf(GOOD, { productId: 'good', input: webhookInput({ body: 'x'.repeat(300_000) }) });
    const before = new Map(processes().map((pid) => [pid, processorMs(pid)]));
    let most = 0;
    const looking = setInterval(() => {
      for (const pid of processes()) most = Math.max(most, (processorMs(pid) || 0) - (before.get(pid) ?? 0));
    }, 10);
    const killed = pool.run(bad('kill'));
    const behind = await Promise.all(Array.from({ length: 5 }, () => pool.run(large)));
    for (const result of behind) expect(outputOf(result)).toEqual(GOOD_OUTPUT);
    expect((await killed).error).toMatchObject({ kind: 'TIMEOUT' });
    clearInterval(looking);
    // A kill comes at 588 ms; without a look at its limits it had several seconds.
    expect(most).toBeLessThan(3_000);
  });

  test.each(process.env['INLET_TESTS'] === 'nightly' ? [1, 2, 3] : [1])(
    'nor does it when its process goes aside for those that wait (try %d)',
    async () => {
      pool = startPool({ timeoutMs: 500 });
      await gainTrust();
      await spareIsUp();
      const state = { isLong: true };
      const long = pool.run(lasting(119_000));
      long.then(
        () => (state.isLong = false),
        // Given back at the end of the test.
        () => {},
      );
      const behind = Array.from({ length: 5 }, () => pool.run(good()));
      // Nothing is sent behind a source that is not known yet.
      const last = pool.run(jobOf(`${GOOD} // new`, { productId: 'new' }));
      const waiting = pool.run(good());
      for (const result of await Promise.all([...behind, last, waiting])) expect(outputOf(result)).toEqual(GOOD_OUTPUT);
      expect(state.isLong).toBe(true);
    },
  );

  test('is no longer sent many at a time, nor is what has been sent of it run in one go', async () => {
    pool = startPool();
    await gainTrust();
    let ended = 0;
    const many = Array.from({ length: 31 }, () => pool.run(lasting(8)).finally(() => (ended += 1)));
    expect(outputOf(await pool.run(good()))).toEqual(GOOD_OUTPUT);
    expect(ended).toBeLessThan(25);
    for (const result of await Promise.all(many)) expect(outputOf(result)).toEqual([]);
  });
});

test('what takes long to compile is long, also where it is only checked, and also when its run ends its isolate', async () => {
  pool = startPool({ timeoutMs: 5_000 });
  const regExp = `/[${'\\p{L}'.repeat(900)}]/iu`;
  for (let i = 0; i < 3; i += 1) expect(await pool.check(`${regExp}.test(${i})`, 'workspace')).toBeNull();
  expect(Object.keys(pool.memory())).toContain('slow 0');
  await pool.stop();
  pool = startPool({ timeoutMs: 5_000 });
  const source = `function Decoder() { Promise.reject(1); return [] } function never() { return ${regExp} }`;
  for (let i = 0; i < 3; i += 1) expect((await pool.run(jobOf(source))).error).toMatchObject({ kind: 'THREW' });
  expect(Object.keys(pool.memory())).toContain('slow 0');
});

test('of many suspects each runs where the one before it has shown that it is innocent', async () => {
  pool = startPool();
  const source = `function Decoder(r) { if (r.body === 'kill') { var a = 3n; for (;;) a *= a } return [] }`;
  for (let i = 0; i < 12; i += 1) await pool.run(jobOf(source, { productId: 'bad' }));
  for (let i = 0; i < 12; i += 1) await pool.run(jobOf(GOOD, { productId: 'good' }));
  const seen = new Set<number>();
  const looking = setInterval(() => processes().forEach((pid) => seen.add(pid)), 10);
  const kill = jobOf('', {}).input.replace('"body":""', '"body":"kill"');
  const killed = pool.run(jobOf(source, { productId: 'bad', input: kill }));
  const good = await Promise.all(Array.from({ length: 28 }, () => pool.run(jobOf(GOOD, { productId: 'good' }))));
  clearInterval(looking);
  for (const result of good) expect(outputOf(result)).toEqual(GOOD_OUTPUT);
  expect((await killed).error).toMatchObject({ kind: 'TIMEOUT' });
  expect(seen.size).toBeLessThan(10);
});

describe('waiting is bounded', () => {
  test('a product that calls too often is told so, and only that one', async () => {
    pool = startPool({ maxWaiting: 16, timeoutMs: 50 });
    await valueOf(pool, 'return []');
    await pool.run(jobOf(LOOP, { productId: 'hog' }));
    const hogs = Array.from({ length: 12 }, () =>
      pool.run(jobOf(LOOP, { productId: 'hog' })).then(
        () => 'ran',
        (error: { code: string }) => error.code,
      ),
    );
    expect(outputOf(await pool.run(jobOf(GOOD, { productId: 'good' })))).toEqual(GOOD_OUTPUT);
    const outcomes = await Promise.all(hogs);
    expect(outcomes.filter((code) => code === 'OVERLOADED').length).toBeGreaterThanOrEqual(5);
    expect(outcomes.filter((code) => code === 'ran').length).toBeGreaterThanOrEqual(1);
  });
});

describe('stopping', () => {
  test('what was accepted finishes, what comes later is refused', async () => {
    pool = startPool();
    const some = (): Promise<unknown>[] => Array.from({ length: 50 }, () => valueOf(pool, 'return [1]'));
    // A stop waits for no start: let every process that gets some of them be up.
    await Promise.all(some());
    const accepted = some();
    const stopped = pool.stop();
    await expect(pool.run(jobOf(GOOD))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await Promise.all(accepted)).toEqual(accepted.map(() => [1]));
    await stopped;
    expect(pool.ready()).toBe(false);
    await pool.stop();
  });

  test('no process is started before the first job, and that is no fault', async () => {
    pool = restingPool();
    expect(pool.ready()).toBe(true);
    expect(processes()).toEqual([]);
    expect(outputOf(await pool.run(jobOf(GOOD)))).toEqual(GOOD_OUTPUT);
    expect(processes().length).toBeGreaterThan(0);
  });

  test('it is ready when a process has answered', async () => {
    pool = startPool();
    expect(pool.ready()).toBe(false);
    await valueOf(pool, 'return []');
    expect(pool.ready()).toBe(true);
  });
});

describe('signals from outside', () => {
  const LONG = 'function Decoder() { var end = Date.now() + 600; while (Date.now() < end); return [1] }';

  test('an innocent call whose process is killed runs again on a fresh one', async () => {
    const reasons: unknown[] = [];
    pool = startPool({ timeoutMs: 2_000, log: (_level, _message, facts) => reasons.push(facts['reason']) });
    await valueOf(pool, 'return []');
    const run = pool.run(jobOf(LONG));
    await new Promise((resolve) => setTimeout(resolve, 200));
    for (const pid of processes()) process.kill(pid, 'SIGKILL');
    expect(outputOf(await run)).toEqual([1]);
    expect(reasons).toContain('KILLED');
    expect(pool.statistics('product').failures).toEqual({});
    expect(outputOf(await pool.run(jobOf(GOOD)))).toEqual(GOOD_OUTPUT);
  });

  test('so does one that its process had not read yet', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'inlet-deaf-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const worker = join(folder, 'deaf.cjs');
    writeFileSync(
      worker,
      `require('fs').writeSync(3, Buffer.from([1, 0, 0, 0, ${FRAME.READY}])); setInterval(() => {}, 1e3)`,
    );
    const reasons: unknown[] = [];
    pool = startPool({ worker, log: (_level, _message, facts) => reasons.push(facts['reason']) });
    await expect.poll(() => pool.ready()).toBe(true);
    const run = pool.run(jobOf(GOOD)).catch(() => null);
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const pid of childrenWith('deaf.cjs')) process.kill(pid, 'SIGKILL');
    await expect.poll(() => reasons).toContain('KILLED');
    expect(reasons).not.toContain('ENDED');
    await pool.stop();
    await run;
  });

  test('a stop does not wait for processes that are stopped', async () => {
    pool = startPool();
    await valueOf(pool, 'return []');
    for (const pid of processes()) process.kill(pid, 'SIGSTOP');
    await pool.stop();
    expect(processes()).toEqual([]);
  });

  test('the second time it is the call that is blamed', async () => {
    pool = startPool({ timeoutMs: 20_000 });
    await valueOf(pool, 'return []');
    const state = { isOver: false };
    const run = pool.run(jobOf(LOOP)).finally(() => (state.isOver = true));
    while (!state.isOver) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      // Processor time: more than a start takes.
      for (const pid of processes()) if (processorMs(pid) > 600) process.kill(pid, 'SIGKILL');
    }
    expect((await run).error).toMatchObject({ kind: 'OUT_OF_MEMORY' });
  });

  test('SIGTERM, SIGINT and SIGHUP to everybody are the server’s to answer', async () => {
    pool = startPool({ timeoutMs: 2_000 });
    await valueOf(pool, 'return []');
    const before = processes();
    const run = pool.run(jobOf(LONG));
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const pid of before) for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.kill(pid, signal);
    expect(outputOf(await run)).toEqual([1]);
    expect(processes()).toEqual(expect.arrayContaining(before.slice(0, 1)));
  });

  test('without their parent they end', async () => {
    pool = startPool();
    await valueOf(pool, 'return []');
    expect(processes().length).toBeGreaterThan(0);
    await pool.stop();
    expect(processes()).toEqual([]);
  });
});
