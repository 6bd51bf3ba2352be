import { describe, expect, test } from 'vitest';
import { LocalCluster } from '../../src/cluster/local-cluster.ts';
import type { LiveQueue } from '../../src/scheduling/bounded-stream.ts';
import type { LoggedCall } from '../../src/domain/calls/logged-call.ts';
import type { CallQuery, CallRow, MeasurementStore } from '../../src/domain/ports/store.ts';
import { CallFeed } from '../../src/domain/calls/call-feed.ts';
import { callRow } from '../support/call-row.ts';

const ROW = callRow(1, 0, { id: 'id' });

const READER = {
  party: { tokenId: 'token', tenant: 'tenant' },
  turns: { next: async () => {}, spend: () => {} },
};
const FROM_NOW_ON = { last: 0, statuses: null };

// A node that is alone never reads the store here.
const newFeed = (): CallFeed => new CallFeed(new LocalCluster(), {} as MeasurementStore);

describe('the live call log', () => {
  test("delivers in order, to the product's subscribers only, and ends when returned", async () => {
    const feed = newFeed();
    const calls = await feed.subscribe({ id: 'p1', key: 1 }, FROM_NOW_ON, READER);
    const waiting = calls.next();
    feed.publish('p2', { ...ROW, id: 'other' });
    for (const id of ['1', '2', '3']) feed.publish('p1', { ...ROW, id });
    const ids = [await waiting, await calls.next(), await calls.next()].map(({ value }) => value.id);
    expect(ids).toEqual(['1', '2', '3']);
    const last = calls.next();
    await calls.return?.();
    expect(await last).toEqual({ value: undefined, done: true });
    feed.publish('p1', ROW);
    expect(await calls.next()).toEqual({ value: undefined, done: true });
  });

  test.each([
    ['many calls', 1_001, ''],
    ['few but big ones', 10, 'x'.repeat(1_000_000)],
  ])('a reader that leaves %s unread is closed and costs no more memory', async (_, count, body) => {
    const feed = newFeed();
    const slow = await feed.subscribe({ id: 'p1', key: 1 }, FROM_NOW_ON, READER);
    const quick = await feed.subscribe({ id: 'p1', key: 1 }, FROM_NOW_ON, READER);
    for (let i = 0; i < count; i += 1) {
      feed.publish('p1', { ...ROW, id: String(i), body });
      expect((await quick.next()).value.id).toBe(String(i));
    }
    await expect(slow.next()).rejects.toMatchObject({ code: 'OVERLOADED' });
    expect(await slow.next()).toEqual({ value: undefined, done: true });
  });
});

describe('where thousands listen', () => {
  const THOUSANDS = 5_000;
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  /** So many who wait for calls, what each was told and how it ended. */
  async function listen(feed: CallFeed, count: number) {
    const told: string[][] = [];
    const ends: unknown[] = [];
    const queues: LiveQueue<LoggedCall>[] = [];
    for (let at = 0; at < count; at += 1) {
      const ids: string[] = [];
      const calls = await feed.subscribe({ id: 'p1', key: 1 }, FROM_NOW_ON, READER);
      const read = async (): Promise<void> => {
        for await (const { id } of calls) ids.push(id);
      };
      void read().catch((error: unknown) => ends.push(error));
      told.push(ids);
      queues.push(calls);
    }
    return { told, ends, queues };
  }

  /** Turns of the event loop until it is so. */
  async function turnsUntil(isSo: () => boolean): Promise<number> {
    for (let turns = 0; ; turns += 1) {
      if (isSo()) return turns;
      await turn();
    }
  }

  test('a call, and that something was missed, is told to some at a time', async () => {
    const cluster = new LocalCluster();
    let miss = (): void => {};
    const feed = new CallFeed(
      Object.assign(cluster, { onMissed: (listener: () => void) => void (miss = listener) }),
      {} as MeasurementStore,
    );
    const { told, ends } = await listen(feed, THOUSANDS);
    feed.publish('p1', ROW);
    expect(await turnsUntil(() => told.every(({ length }) => length === 1))).toBeGreaterThan(5);
    miss();
    // Nobody of those is told of what comes behind that, and who comes is.
    const [after] = (await listen(feed, 1)).told;
    feed.publish('p1', { ...ROW, id: 'after' });
    expect(await turnsUntil(() => ends.length === THOUSANDS)).toBeGreaterThan(5);
    await turnsUntil(() => after!.length > 0);
    expect(new Set(told.map((ids) => ids.join()))).toEqual(new Set(['id']));
    expect([after, ends[0]]).toMatchObject([['after'], { code: 'UNAVAILABLE' }]);
  });

  test('who leaves while a call is told is told no more of it, and who comes of those behind it', async () => {
    const feed = newFeed();
    const { told, queues } = await listen(feed, THOUSANDS);
    const ids = Array.from({ length: 50 }, (_, at) => String(at));
    for (const id of ids.slice(0, 30)) feed.publish('p1', { ...ROW, id });
    await turnsUntil(() => told[0]!.length > 0);
    expect(told.at(-1)).toEqual([]);
    await queues.at(-1)!.return();
    const later = await listen(feed, 1);
    for (const id of ids.slice(30)) feed.publish('p1', { ...ROW, id });
    await turnsUntil(() => later.told[0]!.length === 20 && told.at(-2)!.length === 50);
    expect(later.told[0]).toEqual(ids.slice(30));
    expect(told.pop()).toEqual([]);
    expect(new Set(told.map((of) => of.join()))).toEqual(new Set([ids.join()]));
  });

  test('what is read in the log before it is its turn to be told is not told again', async () => {
    const { rows, feed } = newLog(3);
    await listen(feed, THOUSANDS);
    const calls = await feed.subscribe({ id: 'p1', key: 1 }, { last: 10, statuses: null }, READER);
    rows.push({ ...ROW, id: 'new' });
    feed.publish('p1', rows[1]!, true);
    feed.publish('p1', rows[3]!);
    expect(await idsOf(calls, 3)).toEqual(['call 0', 'call 1', 'call 2']);
    feed.publish('p1', { ...ROW, id: 'last' });
    expect(await idsOf(calls, 2)).toEqual(['new', 'last']);
    await calls.return();
  });

  test('more calls than can be told end it for them', async () => {
    const feed = newFeed();
    const { ends } = await listen(feed, 2);
    for (let at = 0; at < 40; at += 1) feed.publish('p1', { ...ROW, body: 'x'.repeat(1_000_000) });
    await turnsUntil(() => ends.length === 2);
    expect(ends).toMatchObject([{ code: 'UNAVAILABLE' }, { code: 'UNAVAILABLE' }]);
  });
});

/** A node's, and how it hears of calls that others have logged. */
function newCluster() {
  const listeners: ((message: string) => void)[] = [];
  const onMessage = (_: unknown, listener: (message: string) => void): void => void listeners.push(listener);
  const hear = (message: string): void => listeners.forEach((listener) => listener(message));
  return { cluster: Object.assign(new LocalCluster(), { onMessage }), hear };
}

describe('calls that another node has logged', () => {
  test('are read and told of; when one cannot be read its subscribers learn that it is missing, and no others', async () => {
    const { cluster, hear } = newCluster();
    const call = async (_: number, id: string): Promise<CallRow> => {
      if (id === 'unreadable') throw new Error('the database is away');
      return { ...ROW, id };
    };
    const feed = new CallFeed(cluster, { call } as unknown as MeasurementStore);
    const calls = await feed.subscribe({ id: 'p1', key: 1 }, FROM_NOW_ON, READER);
    const others = await feed.subscribe({ id: 'p2', key: 2 }, FROM_NOW_ON, READER);
    for (const message of ['no JSON', 'null', '{"productId":"p1","id":7}']) hear(message);
    hear(JSON.stringify({ productId: 'p1', id: 'readable' }));
    expect(await idsOf(calls, 1)).toEqual(['readable']);
    hear(JSON.stringify({ productId: 'p1', id: 'unreadable' }));
    await expect(calls.next()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    hear(JSON.stringify({ productId: 'p2', id: 'other' }));
    expect(await idsOf(others, 1)).toEqual(['other']);
  });
});

test('who joins is told of no call that was heard before and is only read then', async () => {
  const { cluster, hear } = newCluster();
  const letGo = Promise.withResolvers<void>();
  const call = async (_: number, id: string): Promise<CallRow> => letGo.promise.then(() => ({ ...ROW, id }));
  const feed = new CallFeed(cluster, { call } as unknown as MeasurementStore);
  const first = await feed.subscribe({ id: 'p1', key: 1 }, FROM_NOW_ON, READER);
  const hearOf = (id: string): void => hear(JSON.stringify({ productId: 'p1', id }));
  for (let at = 0; at < 15; at += 1) hearOf(`before ${at}`);
  const later = await feed.subscribe({ id: 'p1', key: 1 }, FROM_NOW_ON, READER);
  hearOf('new');
  letGo.resolve();
  expect(await idsOf(later, 1)).toEqual(['new']);
  expect(await idsOf(first, 16)).toHaveLength(16);
});

/** A log of so many calls of 1 kB, newest last, and how many pages of it are read at once. */
function newLog(
  count: number,
  rows = Array.from({ length: count }, (_, at): CallRow => ({ ...ROW, id: `call ${at}` })),
) {
  const reads = { now: 0, most: 0, all: 0 };
  /** What counting waits for when it has counted. */
  const counting: { end?: Promise<void> } = {};
  const store = {
    countCalls: async ({ limit }: CallQuery) => {
      const counted = rows.slice(-limit);
      await counting.end;
      return { count: counted.length, first: counted.at(-1)?.id ?? null, last: counted[0]?.id ?? null };
    },
    calls: async ({ after, limit }: CallQuery) => {
      reads.all += 1;
      reads.most = Math.max(reads.most, (reads.now += 1));
      await new Promise((resolve) => setTimeout(resolve, 1));
      reads.now -= 1;
      const from = rows.findIndex(({ id }) => id === after) + 1;
      return rows.slice(from, from + limit);
    },
  } as unknown as MeasurementStore;
  return { rows, reads, counting, store, feed: new CallFeed(new LocalCluster(), store) };
}

async function idsOf(calls: LiveQueue<LoggedCall>, count: number): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push(...(await calls.take(50)).map(({ id }) => id));
  return ids;
}

describe('the calls that were logged before', () => {
  test('come oldest first, a few at a time, and what is logged or replayed meanwhile comes once', async () => {
    const { rows, reads, feed } = newLog(60);
    const calls = await feed.subscribe({ id: 'p1', key: 1 }, { last: 35, statuses: null }, READER);
    expect(reads.all).toBe(0);
    const first = await idsOf(calls, 10);
    expect(first).toEqual(rows.slice(25, 35).map(({ id }) => id));
    // One that was told is replayed; one that is not told yet, too, and one is new.
    feed.publish('p1', rows[26]!, true);
    feed.publish('p1', rows[50]!, true);
    rows.push({ ...ROW, id: 'new' });
    feed.publish('p1', rows.at(-1)!);
    expect(await idsOf(calls, 27)).toEqual([...rows.slice(35, 60).map(({ id }) => id), 'call 26', 'new']);
    await calls.return();
  });

  test('what is replayed while it is read is told: it may have been read as it was before', async () => {
    const { rows, reads, feed } = newLog(3);
    const calls = await feed.subscribe({ id: 'p1', key: 1 }, { last: 3, statuses: null }, READER);
    const read = calls.take(50);
    while (reads.now === 0) await new Promise((resolve) => setImmediate(resolve));
    feed.publish('p1', { ...rows[1]!, status: 'STORED' }, true);
    expect((await read).map(({ id }) => id)).toEqual(['call 0', 'call 1', 'call 2']);
    expect((await calls.take(50)).map(({ id, status }) => [id, status])).toEqual([['call 1', 'STORED']]);
    await calls.return();
  });

  test('all of them, where there are no more', async () => {
    const { rows, feed } = newLog(12);
    const calls = await feed.subscribe({ id: 'p1', key: 1 }, { last: 12, statuses: null }, READER);
    expect(await idsOf(calls, 12)).toEqual(rows.map(({ id }) => id));
    const more = await feed.subscribe({ id: 'p1', key: 1 }, { last: 500, statuses: null }, READER);
    expect(await idsOf(more, 12)).toEqual(rows.map(({ id }) => id));
  });

  test('a page of a tenant at a time, however many subscribe: other reading goes on', async () => {
    const { reads, feed } = newLog(60);
    const subscribe = async (at: number): Promise<void> => {
      // Different ones, so that none is read for another.
      const calls = await feed.subscribe({ id: 'p1', key: 1 }, { last: 10 + (at % 50), statuses: null }, READER);
      await idsOf(calls, 10 + (at % 50));
      await calls.return();
    };
    await Promise.all(Array.from({ length: 50 }, (_, at) => subscribe(at)));
    expect(reads.all).toBeGreaterThan(100);
    expect(reads.most).toBe(1);
  });

  test('equal ones are read once', async () => {
    const { reads, feed } = newLog(60);
    const subscribe = async (): Promise<void> => {
      const calls = await feed.subscribe({ id: 'p1', key: 1 }, { last: 50, statuses: null }, READER);
      await idsOf(calls, 50);
      await calls.return();
    };
    await Promise.all(Array.from({ length: 20 }, subscribe));
    expect(reads.all).toBeLessThan(20);
  });

  test('are told of all of them where others are logged between them, or vanish, meanwhile', async () => {
    const { rows, feed } = newLog(60);
    const calls = await feed.subscribe({ id: 'p1', key: 1 }, { last: 40, statuses: null }, READER);
    const first = await idsOf(calls, 10);
    // Their decoder took long: they came before others that are in the log already.
    for (let at = 0; at < 15; at += 1) {
      const late = { ...ROW, id: `late ${at}` };
      rows.splice(at < 5 ? 25 : 45, 0, late);
      feed.publish('p1', late);
    }
    const [gone] = rows.splice(50, 1);
    const more = await idsOf(calls, 44);
    const expected = Array.from({ length: 40 }, (_, at) => `call ${at + 20}`).filter((id) => id !== gone!.id);
    expect([...first, ...more].filter((id) => id.startsWith('call'))).toEqual(expected);
    expect(more.filter((id) => id.startsWith('late')).toSorted()).toHaveLength(15);
    await calls.return();
  });

  test('and what was told of just before somebody else subscribed is among them', async () => {
    const { rows, counting, feed } = newLog(3);
    let counted = (): void => {};
    counting.end = new Promise((resolve) => (counted = resolve));
    const subscribe = (): Promise<LiveQueue<LoggedCall>> =>
      feed.subscribe({ id: 'p1', key: 1 }, { last: 50, statuses: null }, READER);
    const first = subscribe();
    await new Promise((resolve) => setTimeout(resolve, 5));
    rows.push({ ...ROW, id: 'new' });
    feed.publish('p1', rows.at(-1)!);
    const second = subscribe();
    counted();
    for (const calls of [await first, await second])
      expect(await idsOf(calls, 4)).toEqual(['call 0', 'call 1', 'call 2', 'new']);
  });

  test('wait for nobody who has to wait for its own turn', async () => {
    const { rows, feed } = newLog(12);
    const indebted = {
      party: { tokenId: 'other', tenant: 'tenant' },
      turns: { next: () => new Promise<void>(() => {}), spend: () => {} },
    };
    for (const last of [5, 6, 12]) void feed.subscribe({ id: 'p1', key: 1 }, { last, statuses: null }, indebted);
    const calls = await feed.subscribe({ id: 'p1', key: 1 }, { last: 12, statuses: null }, READER);
    expect(await idsOf(calls, 12)).toEqual(rows.map(({ id }) => id));
  });
});

describe('calls of another node', () => {
  /** `hear`: what the other node says; `read`: by the id, what the database answers when it is asked for the call. */
  function newNode(log: CallRow[], read: (id: string) => Promise<CallRow | null>) {
    const { store } = newLog(0, log);
    let hear = (_message: string): void => {};
    const onMessage = (_channel: string, listener: (message: string) => void): void => void (hear = listener);
    const cluster = Object.assign(new LocalCluster(), { onMessage });
    const feed = new CallFeed(cluster, { ...store, call: (_product: number, id: string) => read(id) });
    const says = (id: string, again = false): void => hear(JSON.stringify({ productId: 'p1', id, again }));
    return { feed, says };
  }
  const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
  const rowOf = (id: string): CallRow => ({ ...ROW, id });

  test('come in the order in which they were told, however long each is read', async () => {
    const { feed, says } = newNode([], async (id) => {
      await later(20 - Number(id));
      return rowOf(id);
    });
    const calls = await feed.subscribe({ id: 'p1', key: 1 }, FROM_NOW_ON, READER);
    const ids = Array.from({ length: 20 }, (_, at) => String(at));
    for (const id of ids) says(id);
    expect(await idsOf(calls, 20)).toEqual(ids);
    await calls.return();
  });

  test('that were read in the log before they were told come once, and again when they are replayed', async () => {
    const rows = ['a', 'b', 'c'].map(rowOf);
    const { feed, says } = newNode(rows, async (id) => rowOf(id));
    const calls = await feed.subscribe({ id: 'p1', key: 1 }, { last: 10, statuses: null }, READER);
    expect(await idsOf(calls, 3)).toEqual(['a', 'b', 'c']);
    for (const id of ['b', 'c', 'new']) says(id);
    says('c', true);
    expect(await idsOf(calls, 2)).toEqual(['new', 'c']);
    await calls.return();
  });

  test('that cannot be read are not left out silently', async () => {
    const { feed, says } = newNode([], () => Promise.reject(new Error('the database is away')));
    const calls = await feed.subscribe({ id: 'p1', key: 1 }, FROM_NOW_ON, READER);
    says('lost');
    await expect(calls.next()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});
