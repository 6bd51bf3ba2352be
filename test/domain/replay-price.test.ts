import { expect, test } from 'vitest';
import { Replay } from '../../src/domain/calls/replay.ts';

const CALLS = 3;

/** What replaying three calls costs, the decoders' time aside. */
async function priceOf(dryRun: boolean): Promise<number> {
  return (await replayed(dryRun, { ...NOTHING, run: null })).spentMs;
}

const NOTHING = { status: 'NOTHING_STORED', batches: [], stored: 0, rejected: 0 };

/** … and how many were run side by side at most; `logged`: what the log says of each run. */
async function replayed(
  dryRun: boolean,
  outcome: object,
  logged: string | null = null,
): Promise<{ spentMs: number; atOnce: number }> {
  let [running, atOnce] = [0, 0];
  let spentMs = 0;
  const call = { method: 'POST', path: '/', query: '{}', headers: '{}', body: '', run: logged, receivedAt: 0 };
  const turns = { next: async () => {}, spend: (milliseconds: number) => (spentMs += milliseconds) };
  const product = { id: 'p', key: 1, decoder: { source: '', version: 1 }, deviceType: 'API' };
  const run = async (): Promise<object> => {
    running += 1;
    atOnce = Math.max(atOnce, running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running -= 1;
    return outcome;
  };
  const replay = new Replay({
    authenticator: { follow: (access: unknown) => async () => access },
    ingestCache: { product: async () => product },
    store: { calls: async () => Array.from({ length: CALLS }, () => call), updateCalls: async () => {} },
    recorder: {},
    runner: { run },
    feed: { publish: () => {} },
    receiptTimes: { latest: () => 1 },
    shares: { backgroundOf: () => turns },
    now: () => 1,
  } as unknown as ConstructorParameters<typeof Replay>[0]);
  const access = { requireProduct: () => {}, tokenId: 't' } as unknown as Parameters<Replay['replayCalls']>[0];
  expect((await replay.replayCalls(access, 'p', { dryRun })).calls).toBe(CALLS);
  return { spentMs, atOnce };
}

test('a dry run pays for its calls, and not for commits that it does not make', async () => {
  expect(await priceOf(true)).toBeCloseTo(0.45);
  expect(await priceOf(false)).toBeCloseTo(0.95);
});

test('calls that give very many entries, now or in the log, are run one after the other, and pay for them', async () => {
  const run = { output: '[]', console: [], error: null, durationMs: 0, entries: [] };
  const few = await replayed(true, { ...NOTHING, run });
  expect(few.atOnce).toBe(3);
  const entries = Array.from({ length: 5_000 }, () => ({}));
  const many = await replayed(true, { ...NOTHING, run: { ...run, entries } }, 'x'.repeat(100_000));
  expect(many.atOnce).toBe(1);
  expect(many.spentMs).toBeGreaterThan(few.spentMs + 70);
});
