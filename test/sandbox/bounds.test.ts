import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { pause } from '../../src/scheduling/pause.ts';
import { FRAME, FrameReader } from '../../src/sandbox/frames.ts';
import { JobAdmission } from '../../src/sandbox/job-admission.ts';
import { guiltyOf } from '../../src/sandbox/penalties.ts';
import type { PoolJob } from '../../src/sandbox/pool-job.ts';
import { ProcessKnowledge } from '../../src/sandbox/process-knowledge.ts';
import { RunWatch } from '../../src/sandbox/run-watch.ts';
import { SerialsCache } from '../../src/sandbox/serials-cache.ts';
import { childrenWith } from '../support/processor-time.ts';
import { GOOD, jobOf, telling, outputOf, startPool, valueOf, webhookInput } from './pool.ts';

const settle = { resolve: () => {}, reject: () => {} };
function jobFrom(intake: JobAdmission, source: string, productId = 'p'): PoolJob {
  const job = jobOf(source, { productId });
  return intake.runOf(job, intake.admit(job), null, settle);
}

describe('what is kept in the server', () => {
  test('of sources are the latest 32 million characters', () => {
    const intake = new JobAdmission(2_000);
    const large = (n: number): string => `/* ${n} */${' '.repeat(1_000_000)}`;
    const first = jobFrom(intake, large(0)).source;
    for (let n = 1; n < 20; n += 1) jobFrom(intake, large(n));
    expect(jobFrom(intake, large(0)).source).toBe(first);
    for (let n = 1; n < 40; n += 1) jobFrom(intake, large(n));
    expect(jobFrom(intake, large(0)).source).not.toBe(first);
  });

  test('of serial numbers are the latest 32 million characters', async () => {
    const cache = new SerialsCache();
    const loads = new Map<string, number>();
    const ask = (productId: string) =>
      cache.of(productId, {
        version: '1',
        load: async () => {
          loads.set(productId, (loads.get(productId) ?? 0) + 1);
          return [Buffer.alloc(15_000_000, 's'), Buffer.from('}')];
        },
      });
    for (const productId of ['a', 'b', 'a', 'c', 'a', 'b']) await ask(productId);
    expect(Object.fromEntries(loads)).toEqual({ a: 1, b: 2, c: 1 });
  });

  test('of serial numbers that change all the time one version is loaded at a time, and a newer one for all who wait', async () => {
    const cache = new SerialsCache();
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const ask = (version: string) =>
      cache.of('p', {
        version,
        load: async () => {
          begun.push(version);
          await new Promise<void>((resolve) => ends.push(resolve));
          if (version === 'fails') throw new Error('away');
          return [Buffer.from(version)];
        },
      });
    const first = ask('1');
    const others = ['2', '3', '4', '4'].map((version) => ask(version));
    expect(begun).toEqual(['1']);
    ends.shift()!();
    expect((await first).version).toBe('1');
    await expect.poll(() => begun).toEqual(['1', '4']);
    const failing = ask('fails').catch(() => 'failed');
    ends.shift()!();
    for (const text of await Promise.all(others)) expect(text).toMatchObject({ version: '4', bytes: 1 });
    await expect.poll(() => begun).toEqual(['1', '4', 'fails']);
    const last = ask('5');
    ends.shift()!();
    expect(await failing).toBe('failed');
    await expect.poll(() => ends.length).toBe(1);
    ends.shift()!();
    expect(await last).toMatchObject({ version: '5' });
    expect(await ask('5')).toMatchObject({ version: '5' });
    expect(begun).toEqual(['1', '4', 'fails', '5']);
  });
});

describe('what a decoder process is told to keep', () => {
  const framesOf = (knowledge: ProcessKnowledge, job: PoolJob): number[] => {
    const types: number[] = [];
    const reader = new FrameReader(64 << 20);
    for (const piece of knowledge.missing(job)) reader.push(piece, (frame) => types.push(frame[0]!));
    return types;
  };

  test('of sources is bounded: the one that was used longest ago is dropped', () => {
    const intake = new JobAdmission(2_000);
    const knowledge = new ProcessKnowledge();
    const large = (n: number): PoolJob => jobFrom(intake, `/* ${n} */${' '.repeat(6_000_000)}`);
    expect(framesOf(knowledge, large(0))).toEqual([FRAME.SOURCE]);
    expect(framesOf(knowledge, large(1))).toEqual([FRAME.SOURCE]);
    expect(framesOf(knowledge, large(0))).toEqual([]);
    expect(framesOf(knowledge, large(2))).toEqual([FRAME.SOURCE, FRAME.DROP_SOURCE]);
    expect(framesOf(knowledge, large(0))).toEqual([]);
    expect(framesOf(knowledge, large(1))).toEqual([FRAME.SOURCE, FRAME.DROP_SOURCE]);
  });

  test('of serial numbers too', () => {
    const intake = new JobAdmission(2_000);
    const knowledge = new ProcessKnowledge();
    const pieces = [Buffer.alloc(10 << 20, 's'), Buffer.alloc(5 << 20, 's')];
    const using = (productId: string): PoolJob => ({
      ...jobFrom(intake, GOOD, productId),
      serials: { version: '1', pieces, bytes: 15 << 20, tooLarge: null },
    });
    expect(framesOf(knowledge, using('a'))).toEqual([FRAME.SOURCE, FRAME.SERIALS]);
    expect(framesOf(knowledge, using('b'))).toEqual([FRAME.SERIALS]);
    expect(framesOf(knowledge, using('a'))).toEqual([]);
    // The new text, and nothing instead of the oldest.
    expect(framesOf(knowledge, using('c'))).toEqual([FRAME.SERIALS, FRAME.SERIALS]);
  });
});

test('a run is not blamed for the time that a busy server needs to hand over its megabytes', async () => {
  const pool = startPool();
  // Also when it fails: other tests count processes.
  onTestFinished(() => pool.stop());
  await pool.run(jobOf(GOOD));
  const [input, began] = [webhookInput({ body: 'x'.repeat(6_000_000) }), performance.now()];
  const source = 'function Decoder({ body }) { return [{ value: body.length }]; }';
  const state = { isAnswered: false };
  const answered = pool.run(jobOf(source, { input })).finally(() => (state.isAnswered = true));
  // Each turn of the event loop takes on some hundred kilobytes.
  while (!state.isAnswered) {
    for (const from = performance.now(); performance.now() - from < 45;);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(outputOf(await answered)).toEqual([{ value: 6_000_000 }]);
  // Or the machine hands over more at once, and this says nothing.
  expect(performance.now() - began).toBeGreaterThan(1_000);
});

test('a run that had little of the processor begins again without what its first try left behind', async () => {
  const pool = startPool();
  const source = `function Decoder({ body }) {
    const refused = Promise.reject(new Error('of another try'));
    // What passes while it is stopped counts little.
    for (let spent = 0, last = Date.now(); spent < Number(body);) {
      const now = Date.now();
      spent += Math.min(5, now - last);
      last = now;
    }
    return refused.catch(() => [{ value: 1 }]);
  }`;
  const run = (ms: number) => pool.run(jobOf(source, { input: webhookInput({ body: String(ms) }) }));
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of childrenWith('decoder.worker')) process.kill(pid, name);
  };
  try {
    for (let n = 0; n < 3; n += 1) await run(0);
    let [began, stoppedMs] = [0, Infinity];
    let result = run(0);
    // Longer than its limit, shorter than it takes to think that it will never go on: a busy machine wakes us later.
    while (stoppedMs > 450) {
      await result;
      began = performance.now();
      result = run(150);
      await pause(40);
      signal('SIGSTOP');
      const from = performance.now();
      await pause(300);
      signal('SIGCONT');
      stoppedMs = performance.now() - from;
    }
    const { error, value } = await result;
    expect({ error, value }).toEqual({ error: null, value: [{ value: 1 }] });
    // It has begun again: the first try would have been at its end as soon as it went on.
    expect(performance.now() - began).toBeGreaterThan(470);
  } finally {
    await pool.stop();
  }
});

test('a run that only a kill ends is ended also while a large call behind it is still on the way', async () => {
  const pool = startPool();
  // Also when it fails: other tests count processes.
  onTestFinished(() => pool.stop());
  const source = `function Decoder({ body }) {
    if (body === 'hang') { let a = 3n; for (;;) a *= a; }
    return [{ value: body.length }];
  }`;
  const run = (productId: string, body: string) =>
    pool.run(jobOf(source, { productId, input: webhookInput({ body }) }));
  // A source that is trusted shares its process with others.
  for (const productId of ['a', 'b']) for (let n = 0; n < 12; n += 1) await run(productId, 'quick');
  const [hanging, large] = [run('a', 'hang'), run('b', 'x'.repeat(1_000_000))];
  expect((await hanging).error).not.toBeNull();
  expect(outputOf(await large)).toEqual([{ value: 1_000_000 }]);
});

test('a process that grows by more than a run may have is ended for its memory', async () => {
  const code = 'const kept = []; setInterval(() => kept.push(Buffer.alloc(4e6, 1)), 10)';
  const child = spawn(process.execPath, ['-e', code], { stdio: 'ignore' });
  try {
    const watch = new RunWatch(child.pid, { timeoutMs: 120_000, memoryMb: 64 });
    watch.begin(performance.now());
    await expect.poll(() => watch.verdict(performance.now())).toBe('OUT_OF_MEMORY');
  } finally {
    child.kill('SIGKILL');
  }
});

test('a run whose process is stopped has not used up its time', () => {
  const child = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
  try {
    child.kill('SIGSTOP');
    const watch = new RunWatch(child.pid, { timeoutMs: 250, memoryMb: 64 });
    const began = performance.now();
    watch.begin(began);
    expect(watch.verdict(began + 30)).toBeNull();
    expect(watch.verdict(began + 5_000)).toBe('STARVED');
    const job = { isSuspect: false } as PoolJob;
    expect(guiltyOf({ reason: 'STARVED', blame: [job], rest: [], busyMs: 5_000, wasReady: true })).toBeNull();
    expect(job.isSuspect).toBe(true);
  } finally {
    child.kill('SIGKILL');
  }
});

test('a run is not ended for what others of its process have left there', async () => {
  const code = `process.stdin.once('data', () => {
    globalThis.left = Buffer.alloc(250e6, 1);
    process.stdout.write('grown');
  })`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['pipe', 'pipe', 'ignore'] });
  try {
    const watch = new RunWatch(child.pid, { timeoutMs: 250, memoryMb: 64 });
    const began = performance.now();
    watch.begin(began);
    child.stdin.write('run');
    await once(child.stdout, 'data');
    // They took less than anybody looks at.
    watch.begin(began + 10);
    expect(watch.verdict(began + 30)).toBeNull();
  } finally {
    child.kill('SIGKILL');
  }
});

/** Only how much the thread works is told as it is. */
function stopClock(): void {
  const { eventLoopUtilization } = performance;
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
  performance.eventLoopUtilization = eventLoopUtilization;
}

describe('the pool', () => {
  let pool: ReturnType<typeof startPool>;
  afterEach(async () => {
    vi.useRealTimers();
    await pool.stop();
  });

  test("an isolate's heap is bounded by the memory of a product", async () => {
    pool = startPool({ timeoutMs: 5_000 });
    // More than a product has, less than a process is let grow by.
    const source =
      'function Decoder() { var m = []; for (var i = 0; i < 12; i++) m.push(new Array(1e6).fill(i)); return [m.length] }';
    const { error } = await pool.run(jobOf(source));
    expect(error).toMatchObject({ kind: 'OUT_OF_MEMORY' });
  });

  test('products that fill what they may have do not fill a process together', async () => {
    pool = startPool({ timeoutMs: 5_000 });
    const source = 'function Decoder() { return [new Array(5e6).fill(1).length] }';
    let most = 0;
    for (let at = 0; at < 24; at += 1) {
      const { error } = await pool.run(jobOf(source, { productId: `p${at}` }));
      expect(error).toBeNull();
      most = Math.max(most, ...Object.values(pool.memory()));
    }
    // Each has 40 MB in the end; all of them are 1,000.
    expect(most / 1_048_576).toBeLessThan(620);
  });

  test('a worn process ends after its present run, however much waits for it', async () => {
    pool = startPool({ timeoutMs: 5_000, recycleRuns: 3 });
    const slow = 'function Decoder() { var end = Date.now() + 60; while (Date.now() < end); return [1] }';
    const seen = new Set<number>();
    let left = 30;
    const worker = async (): Promise<void> => {
      while ((left -= 1) > 0) {
        await pool.run(jobOf(slow));
        for (const pid of childrenWith('decoder.worker')) seen.add(pid);
      }
    };
    await Promise.all([worker(), worker(), worker()]);
    // The fast one, the spare one and the first slow one, and others after it.
    expect(seen.size).toBeGreaterThan(3);
  });

  test('a call that has waited ten seconds is refused', async () => {
    stopClock();
    pool = startPool({ timeoutMs: 30_000, maxWaitMs: 10_000 });
    const tick = (ms: number): Promise<void> =>
      new Promise((resolve) => {
        vi.advanceTimersByTime(ms);
        setTimeout(resolve, 5);
      });
    const loop = 'function Decoder() { for (;;); }';
    const long = pool.run(jobOf(loop)).catch(() => {});
    // However long the process takes to start, the first call has not waited too long.
    for (let at = 0; !pool.ready() && at < 4_000; at += 1) await tick(1);
    const state: { code: unknown } = { code: null };
    const waiting = pool.run(jobOf(loop)).catch((error: { code: string }) => (state.code = error.code));
    await tick(9_900);
    expect(state.code).toBeNull();
    await tick(200);
    expect(state.code).toBe('OVERLOADED');
    await waiting;
    const end = { isStopped: false };
    const stopped = pool.stop().then(() => (end.isStopped = true));
    while (!end.isStopped) await tick(20);
    await stopped;
    await long;
  });

  test('a call that waits again and again is refused after half a minute', async () => {
    stopClock();
    pool = startPool({ timeoutMs: 60_000, maxWaitMs: 10_000 });
    const tick = (ms: number): Promise<void> =>
      new Promise((resolve) => {
        vi.advanceTimersByTime(ms);
        setTimeout(resolve, 5);
      });
    for (let at = 0; !pool.ready() && at < 4_000; at += 1) await tick(1);
    const state: { code: unknown; found: (() => void) | null } = { code: null, found: null };
    const lookUp = telling(() => new Promise((resolve) => (state.found = () => resolve({}))));
    const asking = pool
      .run(jobOf('function Decoder() { return [measurements.device] }', { lookUp }))
      .catch((error: { code: string }) => (state.code = error.code));
    const accepted = performance.now();
    for (let at = 0; state.found === null && at < 4_000; at += 1) await tick(1);
    const long = pool.run(jobOf('function Decoder() { for (;;); }')).catch(() => {});
    await tick(25_000 - (performance.now() - accepted));
    state.found!();
    await tick(4_900);
    expect(state.code).toBeNull();
    await tick(200);
    expect(state.code).toBe('OVERLOADED');
    await asking;
    const end = { isStopped: false };
    const stopped = pool.stop().then(() => (end.isStopped = true));
    while (!end.isStopped) await tick(20);
    await stopped;
    await long;
  });

  test('the process of the slow lane goes when nobody has needed it for a minute', async () => {
    stopClock();
    pool = startPool({ timeoutMs: 5_000 });
    const tick = (ms: number): Promise<void> =>
      new Promise((resolve) => {
        vi.advanceTimersByTime(ms);
        setTimeout(resolve, 10);
      });
    const processes = (): number => childrenWith('decoder.worker').length;
    const slow = 'var end = Date.now() + 60; while (Date.now() < end); return [1]';
    // The first run is slow; the next ones go to the slow lane.
    for (let at = 0; at < 3; at += 1) {
      const run = valueOf(pool, slow);
      for (let wait = 0; wait < 30; wait += 1) await tick(20);
      expect(await run).toEqual([1]);
    }
    await expect.poll(() => tick(20).then(processes)).toBe(3);
    for (let second = 0; second < 62; second += 1) await tick(1_000);
    await expect.poll(processes).toBe(2);
    expect(outputOf(await pool.run(jobOf(GOOD, { productId: 'good' })))).toHaveLength(1);
  });
});
