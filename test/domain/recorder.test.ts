import { describe, expect, test } from 'vitest';
import { LocalCluster } from '../../src/cluster/local-cluster.ts';
import { AppError, unauthenticated } from '../../src/errors.ts';
import type { DeviceInfo, FieldInfo, ProductInfo } from '../../src/domain/ingest-cache/ingest-cache.ts';
import { RecordedFeed } from '../../src/domain/live/recorded-feed.ts';
import { Recorder } from '../../src/domain/measurements/recorder.ts';
import { WriteShares } from '../../src/scheduling/write-shares.ts';
import { ReceiptTimes } from '../../src/domain/measurements/receipt-times.ts';
import type { Batch, MeasurementStore, Receipt } from '../../src/domain/ports/store.ts';
import type { Suggestions } from '../../src/domain/measurements/suggestions.ts';
import { LocalWriteLimiter, type WriteLimiter } from '../../src/domain/measurements/write-limiter.ts';

const NOW = 1_767_225_600_000;
const fields: FieldInfo[] = ['A', 'B'].map(
  (identifier, at) => ({ key: at + 1, identifier, type: 'FLOAT' }) as FieldInfo,
);
const product = {
  workspaceId: 'w',
  fields: new Map(fields.map((field) => [field.identifier, field])),
  fieldsByKey: new Map(fields.map((field) => [field.key, field])),
} as ProductInfo;
const device = { key: 1, id: 'd', workspaceId: 'w', product, keeps: null, writeIntervalMs: 60_000 } as DeviceInfo;

/** A recorder whose database can be taken away. */
function open(limiter: WriteLimiter = new LocalWriteLimiter(() => 0)) {
  const database = {
    away: false,
    timeOutMs: 0,
    standsStill: Promise.resolve(),
    asked: 0,
    /** Receipts under way just now, and the most at a time. */
    underWay: 0,
    mostUnderWay: 0,
    refusals: [] as AppError[],
    receipts: [] as Receipt[],
  };
  const store = {
    position: async () => '0',
    latest: async () => [],
    range: async () => ({ timestamps: [], values: [] }),
    append: async (receipt: Receipt) => {
      database.asked += 1;
      database.underWay += 1;
      database.mostUnderWay = Math.max(database.mostUnderWay, database.underWay);
      await database.standsStill;
      if (database.timeOutMs > 0) await new Promise((resolve) => setTimeout(resolve, database.timeOutMs));
      database.underWay -= 1;
      if (database.away) throw new AppError('UNAVAILABLE', 'away');
      const refusal = database.receipts.length === 2 ? database.refusals.shift() : undefined;
      if (refusal !== undefined) throw refusal;
      database.receipts.push(receipt);
      return 0;
    },
    rewrite: (piece: Receipt): Promise<number> => store.append(piece),
  } as unknown as MeasurementStore;
  const suggestions = { note: () => {} } as unknown as Suggestions;
  const shares = new WriteShares();
  const recorder = new Recorder({
    store,
    suggestions,
    shares,
    limiter,
    feed: new RecordedFeed({ store, cluster: new LocalCluster(), now: () => NOW, onError: () => {} }),
    receiptTimes: new ReceiptTimes(),
    maxFutureMs: 1_000,
  });
  const send = (...entries: unknown[]) => recorder.record(device, entries, { limited: true, receivedAt: NOW });
  return { database, send, recorder, shares };
}

/** What a replay brings; nothing goes for it. */
const rewrite = (recorder: Recorder, batches: Batch[], of: ProductInfo): Promise<number> =>
  recorder.rewriteInTurns({ batches, removals: [], shared: [], calls: [] }, [], {
    product: of,
    requireRight: async () => {},
  });
const another = { ...device, key: 2 } as DeviceInfo;
const batchOf = (timestamps: number[]): Batch => ({
  deviceKey: device.key,
  receivedAt: NOW,
  fieldKeys: timestamps.map(() => 1),
  timestamps,
  values: timestamps,
});
const withoutField = (identifier: string): DeviceInfo => {
  const fields = new Map(product.fields);
  fields.delete(identifier);
  const fieldsByKey = new Map([...product.fieldsByKey].filter(([, field]) => field.identifier !== identifier));
  return { ...device, product: { ...product, fields, fieldsByKey } } as DeviceInfo;
};

test.each([
  ['another device has its name', another, null],
  ['its field is gone', withoutField('A'), { stored: 0, rejected: 20 }],
  ['nothing has changed', device, { stored: 20, rejected: 0 }],
])('who had to wait, and then %s', async (_, then, outcome) => {
  const { database, recorder, shares } = open();
  void shares.turn('others', { values: 1 });
  expect(shares.turn('w', { values: 15_000 })).toBeNull();
  const entries = Array.from({ length: 20 }, (__, at) => ({ field: 'A', value: at, timestamp: 1_700_000_001 + at }));
  const options = { limited: false, receivedAt: NOW, recheck: async () => then };
  const answer = recorder.record(device, entries, options);
  if (outcome === null) await expect(answer).rejects.toMatchObject({ code: 'OVERLOADED' });
  else {
    const { stored, rejected } = await answer;
    expect({ stored, rejected: rejected.length }).toEqual(outcome);
    expect(new Set(rejected.map(({ code }) => code))).toEqual(new Set(rejected.length > 0 ? ['UNKNOWN_FIELD'] : []));
  }
  expect(database.receipts).toHaveLength(outcome?.stored ? 1 : 0);
});

describe('a limiter that spans nodes has to be asked, and meanwhile', () => {
  const both = [
    { field: 'A', value: 1 },
    { field: 'B', value: 1 },
  ];
  const slow = (): WriteLimiter => {
    const limiter = new LocalWriteLimiter(() => 0);
    return {
      reserve: async (...asked) => limiter.reserve(...asked),
      giveBack: (...given) => limiter.giveBack(...given),
    };
  };

  test('a field is removed: its entry alone is refused', async () => {
    const { recorder, database } = open(slow());
    const recheck = async (): Promise<DeviceInfo> => withoutField('B');
    const options = { limited: true, receivedAt: NOW, recheck };
    expect(await recorder.record(device, both, options)).toMatchObject({
      stored: 1,
      rejected: [{ index: 1, code: 'UNKNOWN_FIELD' }],
    });
    expect(database.receipts).toHaveLength(1);
  });

  test.each([
    ['another device gets its name', async () => another, 'OVERLOADED'],
    ['its token is revoked', () => Promise.reject(unauthenticated()), 'UNAUTHENTICATED'],
  ])('%s: nothing counts for the write limit', async (_, recheck, code) => {
    const { recorder, send } = open(slow());
    const options = { limited: true, receivedAt: NOW, recheck };
    await expect(recorder.record(device, both, options)).rejects.toMatchObject({ code });
    expect(await send(...both)).toEqual({ stored: 2, rejected: [] });
  });
});

test('what nobody waits for is committed in small parts, what came last into a moment behind what came before', async () => {
  const { recorder, database } = open();
  const batch = (value: number): Batch => ({
    deviceKey: device.key,
    receivedAt: NOW,
    fieldKeys: Array.from({ length: 5_000 }, () => 1),
    timestamps: Array.from({ length: 5_000 }, (_, at) => at),
    values: Array.from({ length: 5_000 }, () => value),
  });
  await rewrite(recorder, [batch(1), batch(2)], device.product);
  const batches = database.receipts.flatMap((receipt) => receipt.batches);
  expect(database.receipts.every(({ batches: own }) => own.flatMap(({ values }) => values).length <= 2_000)).toBe(true);
  expect(batches.flatMap(({ timestamps }) => timestamps)).toEqual([...batch(1).timestamps, ...batch(2).timestamps]);
  expect(batches.flatMap(({ values }) => values)).toEqual([...batch(1).values, ...batch(2).values]);
});

test('what nobody waits for goes on where it was refused', async () => {
  const { recorder, database } = open();
  database.refusals = [1, 2].map(() => new AppError('OVERLOADED', 'no room'));
  const timestamps = Array.from({ length: 8_000 }, (_, at) => at);
  await rewrite(recorder, [batchOf(timestamps)], device.product);
  expect(database.refusals).toEqual([]);
  expect(database.receipts.flatMap(({ batches }) => batches.flatMap((own) => own.timestamps))).toEqual(timestamps);
});

test('an entry that could not be stored does not count for the write limit: the retry is stored', async () => {
  const { database, send } = open();
  database.away = true;
  await expect(send({ field: 'A', value: 1 })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  database.away = false;
  expect(await send({ field: 'A', value: 1 })).toEqual({ stored: 1, rejected: [] });
  expect(await send({ field: 'A', value: 1 })).toMatchObject({ stored: 0, rejected: [{ code: 'RATE_LIMITED' }] });
});

test('refused entries are told in the order in which they were sent, whatever they were refused for', async () => {
  const { send } = open();
  const answer = await send(
    { field: 'A', value: 1 },
    { field: 'A', value: 2 },
    { field: 'NO', value: 3 },
    { field: 'B', value: 4 },
    { field: 'B', value: 5 },
    { field: 'A' },
  );
  expect(answer.stored).toBe(2);
  expect(answer.rejected.map(({ index, code }) => [index, code])).toEqual([
    [0, 'DUPLICATE_IN_REQUEST'],
    [2, 'UNKNOWN_FIELD'],
    [3, 'DUPLICATE_IN_REQUEST'],
    [5, 'MISSING_VALUE'],
  ]);
});

test('of a tenant that is alone thirty thousand values are on their way at once, and what waits is looked at again', async () => {
  const { recorder, database } = open();
  const many = batchOf(Array.from({ length: 10_000 }, (_, at) => at));
  let end!: () => void;
  database.standsStill = new Promise((resolve) => (end = resolve));
  let [isGone, begun] = [false, 0];
  const requireRight = async (): Promise<void> => {
    if (isGone) throw unauthenticated();
  };
  const send = (batch: Batch, of = product): Promise<unknown> => {
    const store = (): Promise<number> => recorder.commit({ batches: [batch] }, { product: of, requireRight });
    return store().finally(() => (begun += 1));
  };
  const turns = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
  const sent = Array.from({ length: 21 }, () => send(many));
  await turns();
  expect(database.asked).toBe(3);
  await expect(send(many)).rejects.toMatchObject({ code: 'OVERLOADED' });
  const single = [send(batchOf([1])), send(many, { ...product, workspaceId: 'other' })];
  await turns();
  expect(database.asked).toBe(5);
  isGone = true;
  end();
  const outcomes = await Promise.allSettled(sent);
  expect(outcomes.map(({ status }) => status)).toEqual(
    Array.from({ length: 21 }, (_, at) => (at < 3 ? 'fulfilled' : 'rejected')),
  );
  await Promise.all(single);
  expect([database.asked, begun]).toEqual([5, 24]);
  isGone = false;
  await Promise.all(Array.from({ length: 20 }, () => send(many)));
});

test('what waits in the line of its tenant for a database that stands still does not time out part by part', async () => {
  const { recorder, database } = open();
  Object.assign(database, { away: true, timeOutMs: 4_100 });
  const many = batchOf(Array.from({ length: 10_000 }, (_, at) => at));
  const send = (): Promise<number> => recorder.commit({ batches: [many] }, { product, requireRight: async () => {} });
  const outcomes = await Promise.allSettled(Array.from({ length: 9 }, send));
  expect(database.asked).toBe(3);
  const codes = outcomes.map((outcome) => outcome.status === 'rejected' && (outcome.reason as AppError).code);
  expect(codes).toEqual([...Array(3).fill('UNAVAILABLE'), ...Array(6).fill('OVERLOADED')]);
  Object.assign(database, { away: false, timeOutMs: 0 });
  await Promise.all(Array.from({ length: 9 }, send));
});
