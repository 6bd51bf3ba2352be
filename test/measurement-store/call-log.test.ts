import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CallRow, CallStatus } from '../../src/domain/ports/store.ts';
import { callRow } from '../support/call-row.ts';
import { DIALECTS, everything, type OpenDatabase, openDatabase, receipt, type Store } from './open-store.ts';

const NOON = 1_700_000_000_000;
const goesOn = (): boolean => false;

describe.each(DIALECTS)('the call log of the %s store', (dialect) => {
  let database: OpenDatabase;
  let store: Store;
  let productKey = 0;

  beforeAll(async () => {
    database = await openDatabase(dialect);
  });
  beforeEach(async () => {
    productKey++;
    store = await database.openStore();
  });
  afterEach(() => store.stop());
  afterAll(() => database.close());

  /** Calls 0 to 9, a second apart; every third failed. */
  async function tenCalls(): Promise<CallRow[]> {
    const calls = Array.from({ length: 10 }, (_, i) =>
      call(productKey, NOON + i * 1_000, { status: i % 3 === 0 ? 'DECODER_FAILED' : 'STORED' }),
    );
    await Promise.all(calls.map((row) => store.append({ batches: [], call: row })));
    return calls;
  }
  const ids = (calls: CallRow[]): string[] => calls.map((row) => row.id);

  test('keeps a call as it came, with the measurements of its receipt', async () => {
    const row = call(productKey, NOON, {
      method: 'GET',
      path: '/integrations/api/x/ü%00',
      query: '{"a":["1","2"]}',
      headers: '{"Content-Type":"text/plain"}',
      body: 'NUL \0, ü, 世界, "quotes" \\ \n',
      bodyTruncated: true,
      decoderVersion: 3,
      run: '{"console":"\\u0000"}',
    });
    await store.append({ ...receipt(productKey, [[1, NOON, 1]]), call: row });
    expect(await store.call(productKey, row.id)).toEqual(row);
    expect(await store.calls({ productKey, limit: 10 })).toEqual([row]);
    expect(await everything(store, productKey, 1)).toEqual([[NOON, 1]]);
  });

  test('keeps lone surrogates of a body as U+FFFD', async () => {
    const row = call(productKey, NOON, { body: 'a\uDFFFb', run: null, decoderVersion: null });
    await store.append({ batches: [], call: row });
    expect(await store.call(productKey, row.id)).toEqual({ ...row, body: 'a\uFFFDb' });
  });

  test('keeps a call of which another part than the body has a NUL', async () => {
    const row = call(productKey, NOON, { query: '{"a":"b\0"}', run: 'c\0' });
    const beside = call(productKey, NOON + 1);
    await Promise.all([row, beside].map((one) => store.append({ batches: [], call: one })));
    const [query, run] = dialect === 'sqlite' ? [row.query, row.run] : ['{"a":"b\uFFFD"}', 'c\uFFFD'];
    expect(await store.call(productKey, row.id)).toEqual({ ...row, query, run });
    expect(await store.call(productKey, beside.id)).toEqual(beside);
  });

  test('shows no call to another product, nor one that is not there', async () => {
    const row = call(productKey, NOON);
    await store.append({ batches: [], call: row });
    expect(await store.call(productKey + 1_000, row.id)).toBeNull();
    expect(await store.calls({ productKey: productKey + 1_000, limit: 10 })).toEqual([]);
    expect(await store.call(productKey, uuidAt(NOON))).toBeNull();
  });

  test('pages from the newest, or from the oldest', async () => {
    const calls = await tenCalls();
    const newest = calls.toReversed();
    const first = await store.calls({ productKey, limit: 4 });
    expect(first).toEqual(newest.slice(0, 4));
    expect(await store.calls({ productKey, limit: 4, after: first[3]!.id })).toEqual(newest.slice(4, 8));
    expect(ids(await store.calls({ productKey, limit: 4, after: newest[7]!.id }))).toEqual(ids(newest.slice(8)));
    expect(await store.calls({ productKey, limit: 3, oldestFirst: true, after: calls[1]!.id })).toEqual(
      calls.slice(2, 5),
    );
  });

  test('filters by status and by receipt time, inclusive to exclusive', async () => {
    const calls = await tenCalls();
    const query = { productKey, limit: 100, oldestFirst: true };
    const failed = [calls[0], calls[3], calls[6], calls[9]];
    expect(await store.calls({ ...query, statuses: ['DECODER_FAILED'] })).toEqual(failed);
    expect(await store.calls({ ...query, statuses: ['DECODER_FAILED', 'STORED'] })).toEqual(calls);
    expect(await store.calls({ ...query, statuses: [] })).toEqual([]);
    expect(await store.calls({ ...query, from: NOON + 2_000, to: NOON + 5_000 })).toEqual(calls.slice(2, 5));
    expect(await store.calls({ ...query, from: NOON + 1_999, to: NOON + 4_001 })).toEqual(calls.slice(2, 5));
    expect(await store.calls({ ...query, from: NOON + 1, statuses: ['DECODER_FAILED'], limit: 2 })).toEqual([
      calls[3],
      calls[6],
    ]);
  });

  test('of several statuses each call is in one page, and a status that is named twice counts once', async () => {
    const calls = await tenCalls();
    const query = { productKey, statuses: ['DECODER_FAILED', 'STORED', 'STORED', 'NO_DECODER'] as CallStatus[] };
    const first = await store.calls({ ...query, limit: 4 });
    expect(first).toEqual(calls.toReversed().slice(0, 4));
    expect(await store.calls({ ...query, limit: 10, after: first[3]!.id })).toEqual(calls.toReversed().slice(4));
    const range = { from: NOON + 1_000, to: NOON + 9_000, oldestFirst: true };
    expect(await store.calls({ ...query, ...range, limit: 3, after: calls[2]!.id })).toEqual(calls.slice(3, 6));
  });

  test('counts what a query would bring, and says where it ended', async () => {
    const calls = await tenCalls();
    const query = { productKey, oldestFirst: true, limit: 6 };
    const ids = calls.map(({ id }) => id);
    const counted = (count: number, first: string | null, last: string | null) => ({ count, first, last });
    expect(await store.countCalls(query)).toEqual(counted(6, ids[0]!, ids[5]!));
    expect(await store.countCalls({ ...query, after: ids[5]! })).toEqual(counted(4, ids[6]!, ids[9]!));
    expect(await store.countCalls({ ...query, oldestFirst: false })).toEqual(counted(6, ids[9]!, ids[4]!));
    expect(await store.countCalls({ ...query, statuses: ['DECODER_FAILED'] })).toMatchObject({
      count: 4,
      last: ids[9]!,
    });
    const both: CallStatus[] = ['DECODER_FAILED', 'STORED'];
    expect(await store.countCalls({ ...query, statuses: both })).toEqual(counted(6, ids[0]!, ids[5]!));
    expect(await store.countCalls({ ...query, statuses: both, to: NOON + 2_000 })).toEqual(
      counted(2, ids[0]!, ids[1]!),
    );
    expect(await store.countCalls({ ...query, statuses: [] })).toEqual(counted(0, null, null));
  });

  test('rewrites the outcomes of some calls and nothing else', async () => {
    const [first, second, third] = await tenCalls();
    const outcome = {
      status: 'STORED' as CallStatus,
      decoderVersion: 7,
      run: '{"output":["\\\\",null]}',
      stored: '[]',
    };
    const another = { status: 'NO_DECODER' as CallStatus, decoderVersion: null, run: null, stored: null };
    await store.updateCalls([
      { productKey, id: first!.id, ...outcome },
      { productKey, id: third!.id, ...another },
      { productKey: productKey + 1_000, id: second!.id, ...outcome },
    ]);
    expect(await store.call(productKey, first!.id)).toEqual({ ...first, ...outcome });
    expect(await store.call(productKey, second!.id)).toEqual(second);
    expect(await store.call(productKey, third!.id)).toEqual({ ...third, ...another });
  });

  test('leaves a call alone that comes again', async () => {
    const row = call(productKey, NOON);
    await store.append({ batches: [], call: row });
    await store.append({ ...receipt(productKey, [[1, 1, 1]]), call: { ...row, body: 'other' } });
    expect(await store.call(productKey, row.id)).toEqual(row);
    expect(await everything(store, productKey, 1)).toEqual([[1, 1]]);
  });

  test('removes old calls of one product, or of all', async () => {
    const calls = await tenCalls();
    const many = Array.from({ length: 1_203 }, (_, i) => call(productKey + 500, NOON + i));
    await Promise.all(many.map((row) => store.append({ batches: [], call: row })));
    expect(await store.removeCalls(NOON + 5_000, productKey, goesOn)).toBe(5);
    expect(await store.calls({ productKey, limit: 100, oldestFirst: true })).toEqual(calls.slice(5));
    expect(await store.calls({ productKey: productKey + 500, limit: 2_000 })).toHaveLength(1_203);
    expect(await store.removeCalls(NOON + 1_100, undefined, goesOn)).toBeGreaterThanOrEqual(1_100);
    expect(ids(await store.calls({ productKey: productKey + 500, limit: 2_000 }))).toEqual(
      ids(many.slice(1_100).toReversed()),
    );
    expect(await store.removeCalls(0, undefined, goesOn)).toBe(0);
  });

  test('removes them some at a time, as long ones keep the only writer of SQLite, and ends between two when it is to', async () => {
    const many = Array.from({ length: 620 }, (_, i) => call(productKey, NOON + i));
    await Promise.all(many.map((row) => store.append({ batches: [], call: row })));
    expect(await store.removeCalls(NOON + 1_000, productKey, () => true)).toBe(dialect === 'sqlite' ? 50 : 500);
    expect(await store.removeCalls(NOON + 1_000, productKey, goesOn)).toBe(dialect === 'sqlite' ? 570 : 120);
  });

  test('removes old calls no more slowly than new ones come', async () => {
    const many = Array.from({ length: 3_000 }, (_, i) => call(productKey, NOON + i, { body: 'x'.repeat(4_000) }));
    await Promise.all(many.map((row) => store.append({ batches: [], call: row })));
    const state = { came: 0, isOver: false };
    const coming = (async () => {
      for (; !state.isOver; state.came += 25)
        await Promise.all(
          Array.from({ length: 25 }, () => store.append({ batches: [], call: call(productKey, 2 * NOON) })),
        );
    })();
    const removed = await store.removeCalls(NOON + 3_000, undefined, goesOn);
    state.isOver = true;
    await coming;
    expect(removed).toBeGreaterThanOrEqual(3_000);
    // Removed one by one, several times as many come meanwhile.
    expect(state.came / removed).toBeLessThan(3);
  });
});

let serial = 0;
/** A UUIDv7 of the time, larger than those made before for the same. */
function uuidAt(time: number): string {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${(serial++).toString(16).padStart(12, '0')}`;
}

function call(productKey: number, receivedAt: number, more: Partial<CallRow> = {}): CallRow {
  const ran = { status: 'STORED', httpStatus: 200, decoderVersion: 1, run: '{}' } as const;
  return callRow(productKey, receivedAt, { id: uuidAt(receivedAt), body: `body ${receivedAt}`, ...ran, ...more });
}
