import { expect, test, vi } from 'vitest';
import { Replay } from '../../src/domain/replay/replay.ts';
import { VersionCounter } from '../../src/scheduling/version-counter.ts';
import { countTurns } from '../support/loop-turns.ts';

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
  const call = {
    method: 'POST',
    path: '/',
    query: '{}',
    headers: '{}',
    body: '',
    run: logged,
    stored: null,
    receivedAt: 0,
  };
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
    rules: { present: async () => new Map() },
    authenticator: { follow: (access: unknown) => async () => access },
    ingestCache: { product: async () => product },
    store: { calls: async () => Array.from({ length: CALLS }, () => call), updateCalls: async () => {} },
    keys: { left: async () => new Set() },
    recorder: {},
    runner: { run },
    feed: { publish: () => {} },
    receiptTimes: { latest: () => 1 },
    shares: { backgroundOf: () => turns },
    now: () => 1,
  } as unknown as ConstructorParameters<typeof Replay>[0]);
  const access = { requireProduct: () => {}, tokenId: 't', fields: null } as unknown as Parameters<
    Replay['replayCalls']
  >[0];
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

test('long outputs are parsed for the answer one by one, and others have their turn in between', async () => {
  const output = ' '.repeat(200_000);
  const parsedIn: number[] = [];
  const counted = countTurns();
  const parse = vi.spyOn(JSON, 'parse').mockImplementation((text) => {
    if (text === output) parsedIn.push(counted.turns);
    return {};
  });
  try {
    await replayed(true, { ...NOTHING, run: { output, console: [], error: null, durationMs: 0, entries: [] } });
  } finally {
    parse.mockRestore();
    counted.stop();
  }
  expect(parsedIn).toHaveLength(CALLS);
  expect(new Set(parsedIn).size).toBe(CALLS);
});

test('of a token four replays run at once, a fifth is told so, and others of the tenant run beside them', async () => {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const replay = new Replay({
    rules: { present: async () => new Map() },
    authenticator: { follow: (access: unknown) => async () => access },
    ingestCache: { product: async (id: string) => ({ id, key: 1, decoder: {}, deviceType: 'API' }) },
    store: { calls: () => ended.then(() => []) },
    receiptTimes: { latest: () => 1 },
    shares: { backgroundOf: () => ({}) },
    now: () => 1,
  } as unknown as ConstructorParameters<typeof Replay>[0]);
  const run = (tokenId: string, id: string) =>
    replay.replayCalls({ requireProduct: () => {}, tokenId, fields: null, tenant: 'w' } as never, id, {});
  const four = ['a', 'b', 'c', 'd'].map((id) => run('one', id));
  const another = run('two', 'e');
  const refused = ['f', 'a'].map((id) => run('one', id).catch((error: unknown) => error));
  await new Promise((resolve) => setImmediate(resolve));
  end();
  expect(await refused[0]).toMatchObject({
    code: 'OVERLOADED',
    message: '4 replays of this token are running, which is as many as may; wait until one of them is done.',
  });
  // What is running is not asked for anew.
  expect(await refused[1]).toMatchObject({ code: 'CONFLICT' });
  await Promise.all([...four, another]);
  expect(await run('one', 'f')).toMatchObject({ calls: 0 });
});

test('of a workspace eight replays run at once, whatever the tokens; another workspace has its own', async () => {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const product = (id: string) => ({ id, key: 1, workspaceId: id.slice(0, 1), decoder: {}, deviceType: 'API' });
  const replay = new Replay({
    rules: { present: async () => new Map() },
    authenticator: { follow: (access: unknown) => async () => access },
    ingestCache: { product: async (id: string) => product(id) },
    store: { calls: () => ended.then(() => []) },
    receiptTimes: { latest: () => 1 },
    shares: { backgroundOf: () => ({}) },
    now: () => 1,
  } as unknown as ConstructorParameters<typeof Replay>[0]);
  const run = (id: string) =>
    replay.replayCalls({ requireProduct: () => {}, tokenId: id, fields: null } as never, id, {});
  const running = [1, 2, 3, 4, 5, 6, 7, 8].map((at) => run(`a${at}`));
  const refused = run('a9').catch((error: unknown) => error);
  running.push(run('b1'));
  await new Promise((resolve) => setImmediate(resolve));
  end();
  expect(await refused).toMatchObject({ code: 'OVERLOADED', details: { allowed: 8 } });
  await Promise.all(running);
});

test('calls are read as they are run, a few at a time, those that are named too', async () => {
  const ids = Array.from({ length: 30 }, (_, at) => `id-${String(at).padStart(2, '0')}`);
  const callOf = (id: string) => ({
    id,
    method: 'POST',
    path: '/',
    query: '{}',
    headers: '{}',
    body: id,
    run: null,
    receivedAt: 0,
  });
  const unread = new Set<string>();
  let [runs, mostUnread] = [0, 0];
  const read = (id: string) => {
    unread.add(id);
    mostUnread = Math.max(mostUnread, unread.size);
    return callOf(id);
  };
  let looks = 0;
  const replay = new Replay({
    rules: { present: async () => new Map() },
    authenticator: { follow: (access: unknown) => async () => access },
    keys: { left: async () => new Set() },
    ingestCache: { product: async () => ({ id: 'p', key: 1, decoder: { source: '', version: 1 }, deviceType: 'API' }) },
    store: {
      // At first it is only looked whether they are there.
      call: async (_: number, id: string) =>
        (looks += 1) <= ids.length ? callOf(id) : id === ids[4] ? null : read(id),
      calls: async ({ after, limit }: { after?: string; limit: number }) =>
        ids
          .filter((id) => after === undefined || id > after)
          .slice(0, limit)
          .map(read),
    },
    runner: {
      run: async ({ request: { body } }: { request: { body: string } }) => {
        unread.delete(body);
        runs += 1;
        return { ...NOTHING, run: null };
      },
    },
    receiptTimes: { latest: () => 1 },
    shares: { backgroundOf: () => ({ next: async () => {}, spend: () => {} }) },
    now: () => 1,
  } as unknown as ConstructorParameters<typeof Replay>[0]);
  const access = { requireProduct: () => {}, tokenId: 't', fields: null } as unknown as Parameters<
    Replay['replayCalls']
  >[0];
  // One was forgotten by the log meanwhile.
  expect((await replay.replayCalls(access, 'p', { dryRun: true, callIds: ids })).calls).toBe(29);
  expect((await replay.replayCalls(access, 'p', { dryRun: true })).calls).toBe(30);
  expect([runs, mostUnread]).toEqual([59, 10]);
});

test('whoever else changes things all the time does not keep what is replayed from being stored', async () => {
  const product = {
    id: 'p',
    workspaceId: 'w',
    key: 1,
    decoder: { source: '', version: 1 },
    fieldsByKey: new Map([[7, {}]]),
  };
  const device = { id: 'd', key: 3, productId: 'p', product };
  const batches = Array.from({ length: 2_000 }, (_, at) => ({
    device,
    batch: { deviceKey: 3, receivedAt: 0, fieldKeys: [7], timestamps: [at], values: [1] },
  }));
  const call = {
    method: 'POST',
    path: '/',
    query: '{}',
    headers: '{}',
    body: '',
    run: null,
    stored: null,
    receivedAt: 0,
  };
  const revisions = new VersionCounter();
  let [looks, commits, isOver] = [0, 0, false];
  const others = (): void => {
    revisions.changed('another');
    if (!isOver) setImmediate(others);
  };
  const replay = new Replay({
    rules: { present: async () => new Map() },
    authenticator: { follow: (access: unknown) => async () => access },
    ingestCache: {
      product: async () => product,
      device: async () => (looks += 1) && device,
      get revision() {
        return revisions.now;
      },
      hasChanged: ({ id }: { id: string }, since: number) => revisions.hasChanged([id], since),
    },
    store: {
      calls: async () => [call],
      updateCalls: async () => {},
      valuesAt: async (keys: { fieldKeys: number[] }[]) =>
        keys.map(({ fieldKeys }) => ({ values: fieldKeys.map(() => undefined), others: fieldKeys.map(() => 0) })),
    },
    keys: { left: async () => new Set() },
    recorder: {
      rewriteInTurns: async (_: unknown, _begun: unknown, { requireRight }: { requireRight: () => Promise<void> }) => {
        await requireRight();
        revisions.changed('p');
        await requireRight();
        commits += 1;
        return 0;
      },
    },
    runner: { run: async () => ({ ...NOTHING, run: null, batches }) },
    feed: { publish: () => {} },
    receiptTimes: { latest: () => 1 },
    shares: { backgroundOf: () => ({ next: async () => {}, spend: () => {} }) },
    now: () => 1,
  } as unknown as ConstructorParameters<typeof Replay>[0]);
  others();
  try {
    const access = { requireProduct: () => {}, tokenId: 't', fields: null } as unknown as Parameters<
      Replay['replayCalls']
    >[0];
    expect((await replay.replayCalls(access, 'p', {})).calls).toBe(1);
  } finally {
    isOver = true;
  }
  expect([looks, commits]).toEqual([batches.length, 1]);
});

test('a replay that ends as the database does not answer says so, and how far it came', async () => {
  let looks = 0;
  const replay = new Replay({
    rules: { present: async () => new Map() },
    authenticator: { follow: (access: unknown) => async () => access },
    ingestCache: {
      product: async () => {
        looks += 1;
        if (looks > 1) throw Object.assign(new Error('terminated'), { code: '57P01' });
        return { id: 'p', key: 1, decoder: {}, deviceType: 'API' };
      },
    },
    store: { calls: async () => [{}] },
    receiptTimes: { latest: () => 1 },
    shares: { backgroundOf: () => ({ next: async () => {}, spend: () => {} }) },
    now: () => 1,
  } as unknown as ConstructorParameters<typeof Replay>[0]);
  const access = { requireProduct: () => {}, tokenId: 't', fields: null } as unknown as Parameters<
    Replay['replayCalls']
  >[0];
  const failure = { code: 'UNAVAILABLE', details: { calls: 0, stored: 0 } };
  await expect(replay.replayCalls(access, 'p', {})).rejects.toMatchObject(failure);
  looks = 0;
  expect((await replay.progress(access, 'p'))?.endedBecause).toContain('The database does not answer');
});
