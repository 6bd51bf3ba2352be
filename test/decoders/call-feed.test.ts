import { describe, expect, test } from 'vitest';
import { LocalCluster } from '../../src/cluster/local-cluster.ts';
import type { CallRow, MeasurementStore } from '../../src/domain/measurements/store.ts';
import { CallFeed } from '../../src/domain/calls/call-feed.ts';

const ROW: CallRow = {
  id: 'id',
  productKey: 1,
  receivedAt: 0,
  method: 'GET',
  path: '/',
  query: '{}',
  headers: '{}',
  body: '',
  bodyTruncated: false,
  status: 'NO_DECODER',
  httpStatus: 202,
  decoderVersion: null,
  run: null,
};

const FROM_NOW_ON = { last: 0, statuses: null };

// A node that is alone never reads the store here.
const newFeed = (): CallFeed => new CallFeed(new LocalCluster(), {} as MeasurementStore);

describe('the live call log', () => {
  test("delivers in order, to the product's subscribers only, and ends when returned", async () => {
    const feed = newFeed();
    const calls = await feed.subscribe({ id: 'p1', key: 1 }, FROM_NOW_ON);
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
    const slow = await feed.subscribe({ id: 'p1', key: 1 }, FROM_NOW_ON);
    const quick = await feed.subscribe({ id: 'p1', key: 1 }, FROM_NOW_ON);
    for (let i = 0; i < count; i += 1) {
      feed.publish('p1', { ...ROW, id: String(i), body });
      expect((await quick.next()).value.id).toBe(String(i));
    }
    await expect(slow.next()).rejects.toMatchObject({ code: 'OVERLOADED' });
    expect(await slow.next()).toEqual({ value: undefined, done: true });
  });
});
