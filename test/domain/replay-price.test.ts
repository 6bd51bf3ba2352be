import { expect, test } from 'vitest';
import { Replay } from '../../src/domain/calls/replay.ts';

/** What replaying three calls costs, the decoders' time aside. */
async function priceOf(dryRun: boolean): Promise<number> {
  let spentMs = 0;
  const call = { method: 'POST', path: '/', query: '{}', headers: '{}', body: '', run: null, receivedAt: 0 };
  const turns = { next: async () => {}, spend: (milliseconds: number) => (spentMs += milliseconds) };
  const product = { id: 'p', key: 1, decoder: { source: '', version: 1 }, deviceType: 'API' };
  const outcome = { status: 'NOTHING_STORED', run: null, batches: [], stored: 0, rejected: 0 };
  const replay = new Replay({
    authenticator: { follow: (access: unknown) => async () => access },
    ingestCache: { product: async () => product },
    store: { calls: async () => [call, call, call], updateCalls: async () => {} },
    recorder: {},
    runner: { run: async () => outcome },
    feed: { publish: () => {} },
    receiptTimes: { latest: () => 1 },
    shares: { backgroundOf: () => turns },
    now: () => 1,
  } as unknown as ConstructorParameters<typeof Replay>[0]);
  const access = { requireProduct: () => {}, tokenId: 't' } as unknown as Parameters<Replay['replayCalls']>[0];
  expect((await replay.replayCalls(access, 'p', { dryRun })).calls).toBe(3);
  return spentMs;
}

test('a dry run pays for its calls, and not for commits that it does not make', async () => {
  expect(await priceOf(true)).toBeCloseTo(0.45);
  expect(await priceOf(false)).toBeCloseTo(0.95);
});
