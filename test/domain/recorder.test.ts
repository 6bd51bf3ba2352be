import { describe, expect, test } from 'vitest';
import { LocalCluster } from '../../src/cluster/local-cluster.ts';
import { AppError, unauthenticated } from '../../src/errors.ts';
import type { DeviceInfo, FieldInfo, ProductInfo } from '../../src/domain/ingest-cache/ingest-cache.ts';
import { Feed } from '../../src/domain/live/feed.ts';
import { LongReadings } from '../../src/domain/measurements/long-readings.ts';
import { Recorder } from '../../src/domain/measurements/recorder.ts';
import { WriteShares } from '../../src/scheduling/write-shares.ts';
import { ReceiptParts } from '../../src/domain/measurements/receipt-parts.ts';
import { ReceiptTimes } from '../../src/domain/measurements/receipt-times.ts';
import type { Batch, LongMoment, MeasurementStore, Receipt } from '../../src/domain/ports/store.ts';
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
    long: [] as LongMoment[],
    tells: () => {},
  };
  const store = {
    position: async () => '0',
    latest: async () => [],
    range: async () => ({ timestamps: [], values: [] }),
    longMoments: async () => database.long,
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
      database.tells();
      return 0;
    },
    rewrite: (piece: Receipt): Promise<number> => store.append(piece),
  } as unknown as MeasurementStore;
  const suggestions = { note: () => {} } as unknown as Suggestions;
  const shares = new WriteShares();
  const longReadings = new LongReadings();
  const recorder = new Recorder({
    store,
    suggestions,
    shares,
    longReadings,
    parts: new ReceiptParts({ store, shares, longReadings }),
    limiter,
    feed: new Feed({ store, cluster: new LocalCluster(), now: () => NOW, onError: () => {} }),
    receiptTimes: new ReceiptTimes(),
    maxFutureMs: 1_000,
  });
  const send = (...entries: unknown[]) => recorder.record(device, entries, { limited: true, receivedAt: NOW });
  return { database, send, recorder, shares, longReadings };
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
/** The fields A and B, and so many others. */
const fieldsOf = (type: 'STRING', count: number): ProductInfo['fieldsByKey'] =>
  new Map([
    ...product.fieldsByKey,
    ...Array.from({ length: count }, (_, at) => [at + 10, { key: at + 10, identifier: `T${at}`, type }] as const),
  ] as [number, FieldInfo][]);
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

test('a value for a device whose long readings are written again waits for its turn beside others', async () => {
  const { send, shares, longReadings, database } = open();
  longReadings.note(new Map([[device.key, { readings: 1, bytes: 40_000_000 }]]));
  database.long = [[device.key, 1_700_000_001_000, 40_000_000]];
  void shares.turn('others', { values: 1 });
  await send({ field: 'A', value: 1, timestamp: 1_700_000_001 });
  const second = send({ field: 'B', value: 1, timestamp: 1_700_000_001 });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(database.receipts).toHaveLength(1);
  await second;
  expect(database.receipts).toHaveLength(2);
});

test('what turns out to be very long when it is written again is paid for then', async () => {
  const { send, shares, longReadings, database } = open();
  database.tells = () => longReadings.note(new Map([[device.key, { readings: 1, bytes: 4_000_000 }]]));
  void shares.turn('others', { values: 1 });
  await send({ field: 'A', value: 1, timestamp: 1_700_000_001 });
  expect(shares.turn('w', { values: 100 })).not.toBeNull();
});

test('values that come into long moments are committed a few megabytes at a time, beside others in turns', async () => {
  const { recorder, shares, longReadings, database } = open();
  longReadings.note(new Map([[device.key, { readings: 1, bytes: 1_000_000 }]]));
  const moments = Array.from({ length: 10 }, (_, at) => 1_700_000_001 + at);
  database.long = moments.map((at) => [device.key, at * 1_000, 1_000_000]);
  void shares.turn('others', { values: 1 });
  const entries = moments.flatMap((timestamp) => ['A', 'B'].map((field) => ({ field, value: timestamp, timestamp })));
  const sent = recorder.record(device, entries, { limited: false, receivedAt: NOW });
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(database.receipts.length).toBeLessThanOrEqual(2);
  expect(await sent).toEqual({ stored: 20, rejected: [] });
  const parts = database.receipts.map(({ batches }) => batches.flatMap(({ timestamps }) => timestamps));
  expect(parts.map((part) => part.length)).toEqual([6, 6, 6, 2]);
  expect(parts.flat()).toEqual(moments.flatMap((at) => [at * 1_000, at * 1_000]));
});

test('requests that are under way together are asked about together: what each may have written again adds up', async () => {
  const { recorder, longReadings, database } = open();
  longReadings.note(new Map([[device.key, { readings: 1, bytes: 600_000 }]]));
  database.long = Array.from({ length: 30 }, (_, at): LongMoment => [
    device.key,
    (1_700_000_001 + at) * 1_000,
    600_000,
  ]);
  const send = (timestamp: number): Promise<unknown> =>
    recorder.record(device, [{ field: 'A', value: 1, timestamp }], { limited: false, receivedAt: NOW });
  const sent = Promise.all(Array.from({ length: 10 }, (_, at) => send(1_700_000_001 + at)));
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(database.receipts.length).toBeLessThanOrEqual(3);
  await sent;
  expect(database.receipts).toHaveLength(10);
});

test('what may be written again for others of its tenant puts nothing in line that is known to be less', async () => {
  const { recorder, longReadings, database } = open();
  longReadings.note(new Map([[device.key, { readings: 1, bytes: 70_000 }]]));
  database.long = [[device.key, 1_700_000_001_000, 70_000]];
  const wide = { ...another, product: { ...product, fieldsByKey: fieldsOf('STRING', 100) } } as DeviceInfo;
  database.timeOutMs = 200;
  // Twelve megabytes that may be, and are not.
  const send = (of: DeviceInfo, timestamp: number): Promise<unknown> =>
    recorder.record(of, [{ field: 'A', value: 1, timestamp }], { limited: false, receivedAt: NOW });
  const ordinary = Array.from({ length: 10 }, (_, at) => send(wide, 1_700_000_001 + at));
  await Promise.all(Array.from({ length: 14 }, () => send(device, 1_700_000_001)));
  await Promise.all(ordinary);
  expect(database.mostUnderWay).toBe(24);
});

test('what several batches bring into one moment is written again once', async () => {
  const { recorder, database } = open();
  database.long = [[device.key, 1_000, 2_500_000], [device.key, 2_000, 2_500_000]]; // prettier-ignore
  const batches = [1, 2, 3].map((value) => ({ ...batchOf([1_000, 2_000]), values: [value, value] }));
  const wide = { ...product, fieldsByKey: fieldsOf('STRING', 100) } as ProductInfo;
  await rewrite(recorder, batches, wide);
  const parts = database.receipts.map((receipt) =>
    receipt.batches.map(({ timestamps, values }) => [timestamps, values]),
  );
  expect(parts).toEqual([1_000, 2_000].map((at) => [1, 2, 3].map((value) => [[at], [value]])));
});

test('what several batches bring into one moment is no more at once than nobody waits for', async () => {
  const { recorder, database } = open();
  database.long = [[device.key, 1_000, 2_500_000]];
  const batches = Array.from({ length: 10 }, () => batchOf(Array.from({ length: 1_500 }, () => 1_000)));
  const wide = { ...product, fieldsByKey: fieldsOf('STRING', 100) } as ProductInfo;
  await rewrite(recorder, batches, wide);
  expect(database.receipts.map((receipt) => receipt.batches.length)).toEqual([2, 2, 2, 2, 2]);
});

test('what writes little again stands in no line, whatever else of its tenant is under way', async () => {
  const { recorder, longReadings, database } = open();
  for (const [key, bytes] of [[1, 600_000], [2, 3_000]] as const)
    longReadings.note(new Map([[key, { readings: 1, bytes }]])); // prettier-ignore
  database.long = [1, 2].flatMap((key) =>
    Array.from({ length: 30 }, (_, at): LongMoment => [key, (1_700_000_001 + at) * 1_000, key === 1 ? 600_000 : 3_000]),
  );
  const send = (of: DeviceInfo, timestamp: number): Promise<unknown> =>
    recorder.record(of, [{ field: 'A', value: 1, timestamp }], { limited: false, receivedAt: NOW });
  let longEnded = 0;
  const long = Promise.all([1, 2, 3, 4].map((at) => send(device, 1_700_000_000 + at).then(() => (longEnded += 1))));
  await Promise.all(Array.from({ length: 30 }, (_, at) => send(another, 1_700_000_001 + at)));
  expect(longEnded).toBeLessThan(4);
  await long;
  expect(database.receipts).toHaveLength(34);
});

test('one request has no more than some megabytes written again', async () => {
  const { recorder, longReadings, database } = open();
  longReadings.note(new Map([[device.key, { readings: 1, bytes: 3_000_000 }]]));
  const moments = Array.from({ length: 30 }, (_, at) => 1_700_000_001 + at);
  database.long = moments.map((at) => [device.key, at * 1_000, 3_000_000]);
  const entries = moments.map((timestamp) => ({ field: 'A', value: 1, timestamp }));
  const sent = recorder.record(device, entries, { limited: false, receivedAt: NOW });
  await expect(sent).rejects.toMatchObject({ code: 'OVERLOADED', message: expect.stringContaining('hold 86 MB') });
  expect(database.receipts).toEqual([]);
});

test('what comes into no long moment is committed last: who is refused amid it and sends again has nothing twice', async () => {
  const { recorder, longReadings, database } = open();
  longReadings.note(new Map([[device.key, { readings: 1, bytes: 2_500_000 }]]));
  const moments = [1_700_000_001, 1_700_000_002];
  database.long = moments.map((at) => [device.key, at * 1_000, 2_500_000]);
  const entries = [{ field: 'B', value: 7 }, ...moments.map((timestamp) => ({ field: 'A', value: 1, timestamp }))];
  await recorder.record(device, entries, { limited: false, receivedAt: NOW });
  const times = database.receipts.map(({ batches }) => batches.flatMap(({ timestamps }) => timestamps));
  expect(times).toEqual([...moments.map((at) => [at * 1_000]), [NOW]]);
});

test.each([
  ['its sender has lost the right', 'UNAUTHENTICATED'],
  ['its field is gone', 'OVERLOADED'],
])('nothing more is committed of what is committed in parts when %s', async (_, code) => {
  const { recorder, longReadings, database } = open();
  longReadings.note(new Map([[device.key, { readings: 1, bytes: 1_000_000 }]]));
  const moments = [1, 2, 3, 4, 5, 6].map((at) => 1_700_000_000 + at);
  database.long = moments.map((at) => [device.key, at * 1_000, 2_500_000]);
  const entries = moments.map((timestamp) => ({ field: 'A', value: 1, timestamp }));
  const recheck = async (): Promise<DeviceInfo> => {
    if (database.receipts.length < 2) return device;
    if (code === 'OVERLOADED') return withoutField('A');
    throw new AppError('UNAUTHENTICATED', 'revoked');
  };
  await expect(recorder.record(device, entries, { limited: false, receivedAt: NOW, recheck })).rejects.toMatchObject({
    code,
  });
  expect(database.receipts).toHaveLength(2);
});

test('of a workspace alone so many that write very much again wait in memory, others are refused', async () => {
  const { recorder, longReadings, database } = open();
  longReadings.note(new Map([[device.key, { readings: 1, bytes: 1_500_000 }]]));
  database.long = [[device.key, 1_700_000_001_000, 1_500_000]];
  const send = (): Promise<unknown> =>
    recorder.record(device, [{ field: 'A', value: 1, timestamp: 1_700_000_001 }], { limited: false, receivedAt: NOW });
  const ends = await Promise.allSettled(Array.from({ length: 25 }, send));
  const refused = ends.flatMap((end) => (end.status === 'rejected' ? [(end.reason as AppError).code] : []));
  expect([...new Set(refused)]).toEqual(['OVERLOADED']);
  expect(database.receipts.length).toBe(25 - refused.length);
  expect(database.receipts.length).toBe(20);
});

test('tenants take turns with what writes very much again: nobody stands behind the twenty of another', async () => {
  const { shares, longReadings } = open();
  const parts = new ReceiptParts({ store: { longMoments: async () => [] }, shares, longReadings });
  const stored: string[] = [];
  const send = (tenant: string): Promise<void> =>
    parts.inTurn(tenant, { values: 1, bytes: 2_097_152 }, async () => stored.push(tenant));
  const loud = Array.from({ length: 20 }, () => send('loud'));
  // They are in line.
  await new Promise(setImmediate);
  await Promise.all([send('quiet'), ...loud]);
  expect(stored.indexOf('quiet')).toBeLessThan(3);
});

test('where the database does not answer, those in line do not wait for their own time-outs one after the other', async () => {
  const { recorder, longReadings, database } = open();
  longReadings.note(new Map([[device.key, { readings: 1, bytes: 1_500_000 }]]));
  database.long = [[device.key, 1_700_000_001_000, 1_500_000]];
  Object.assign(database, { away: true, timeOutMs: 4_100 });
  const send = (): Promise<unknown> =>
    recorder.record(device, [{ field: 'A', value: 1, timestamp: 1_700_000_001 }], { limited: false, receivedAt: NOW });
  const ends = await Promise.allSettled(Array.from({ length: 5 }, send));
  // The others did not ask it.
  expect(database.asked).toBe(1);
  const codes = ends.map((end) => (end.status === 'rejected' ? (end.reason as AppError).code : 'stored'));
  expect(codes).toEqual(['UNAVAILABLE', 'OVERLOADED', 'OVERLOADED', 'OVERLOADED', 'OVERLOADED']);
  Object.assign(database, { away: false, timeOutMs: 0 });
  await send();
  expect(database.receipts).toHaveLength(1);
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

test('of a tenant that is alone thirty thousand values are on their way at once, what waits is looked at again, and parts go on', async () => {
  const { recorder, database } = open();
  const many = batchOf(Array.from({ length: 10_000 }, (_, at) => at));
  const wide = { ...product, fieldsByKey: fieldsOf('STRING', 100) } as ProductInfo;
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
  const parts = send(many, { ...wide, workspaceId: 'parts' });
  await turns();
  expect(database.asked).toBe(4);
  await expect(send(many)).rejects.toMatchObject({ code: 'OVERLOADED' });
  const single = [send(batchOf([1])), send(many, { ...product, workspaceId: 'other' })];
  await turns();
  expect(database.asked).toBe(6);
  isGone = true;
  end();
  const outcomes = await Promise.allSettled(sent);
  expect(outcomes.map(({ status }) => status)).toEqual(
    Array.from({ length: 21 }, (_, at) => (at < 3 ? 'fulfilled' : 'rejected')),
  );
  await Promise.all([...single, parts]);
  expect([database.asked, begun]).toEqual([6, 25]);
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

test('requests whose values come into long moments, and which are as much as may be on its way, wait for none of each other', async () => {
  const { recorder, database } = open();
  const timestamps = Array.from({ length: 15_000 }, (_, at) => at);
  database.long = timestamps.slice(0, 100).map((at): LongMoment => [device.key, at, 2_000]);
  const wide = { ...product, fieldsByKey: fieldsOf('STRING', 100) } as ProductInfo;
  const send = (): Promise<number> =>
    recorder.commit({ batches: [batchOf(timestamps)] }, { product: wide, requireRight: async () => {} });
  await Promise.all(Array.from({ length: 6 }, send));
  expect(database.receipts.flatMap(({ batches }) => batches.flatMap((batch) => batch.timestamps))).toHaveLength(90_000);
});
