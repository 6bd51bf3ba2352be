import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { LocalCluster } from '../../src/cluster/local-cluster.ts';
import { RecordedFeed } from '../../src/domain/live/recorded-feed.ts';
import type { RecordedEvent } from '../../src/domain/live/recorded-event.ts';
import { LONG_AGO, type StoredValue } from '../../src/domain/ports/store.ts';
import { currentCaller, runAs } from '../../src/scheduling/current-caller.ts';
import { countTurns } from '../support/loop-turns.ts';
import { EITHER_DATABASE } from '../support/server.ts';
import { DIALECTS, openDatabase, type OpenDatabase, receipt, type Row, type Store } from './open-store.ts';

const all = (): boolean => true;

/** What was stored before it is older than who subscribes after it: both are stamped in whole milliseconds. */
async function nextMillisecond(): Promise<void> {
  for (const now = Date.now(); Date.now() <= now;) await new Promise((resolve) => setImmediate(resolve));
}

/** The same for each seed. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe.each(DIALECTS)('the live feed on %s', (dialect) => {
  let database: OpenDatabase;
  let store: Store;
  const stops: (() => Promise<unknown>)[] = [];
  let known = 0;

  beforeAll(async () => {
    database = await openDatabase(dialect);
    store = await database.openStore();
  });
  afterEach(async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  });
  afterAll(async () => {
    await store.stop();
    await database.close();
  });

  /** For what the feed does by itself, with whichever store. */
  const onEither = EITHER_DATABASE.includes(dialect) ? test : () => {};

  /** Of devices that nothing has been recorded of: so many keys, one behind the other. */
  function newDevices(count: number): number[] {
    return Array.from({ length: count }, () => (known += 1));
  }
  const feedOver = (store: Pick<Store, 'position' | 'recorded'>): RecordedFeed => {
    const feed = new RecordedFeed({
      store,
      cluster: new LocalCluster(),
      now: () => Date.now(),
      onError: (error) => expect.unreachable(String(error)),
    });
    stops.push(async () => feed.stop());
    return feed;
  };

  /** A feed over a store whose reads take 5 ms each, of which it is told. */
  const slowFeed = (onRead: (page: Awaited<ReturnType<Store['recorded']>>) => void): RecordedFeed =>
    feedOver({
      position: () => store.position(),
      recorded: async (query) => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        const page = await store.recorded(query);
        onRead(page);
        return page;
      },
    });

  async function send(feed: RecordedFeed, deviceKey: number, rows: Row[]): Promise<void> {
    await store.append(receipt(deviceKey, rows));
    feed.recorded();
    await nextMillisecond();
  }

  async function take(events: AsyncIterator<RecordedEvent>, count: number): Promise<RecordedEvent[]> {
    const got: RecordedEvent[] = [];
    while (got.length < count) got.push((await events.next()).value as RecordedEvent);
    return got;
  }
  const codeOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'none',
      (error: { code: string }) => error.code,
    );

  test('a position that is none of ours has expired, whatever devices are named', async () => {
    const feed = feedOver(store);
    const [device] = newDevices(1) as [number];
    await send(feed, device, [[1, 1000, 1]]);
    for (const after of ['', '-1', 'NaN', '1e3', 'Infinity', '9'.repeat(30), 'x'])
      for (const deviceKeys of [null, [device], [device + 1]]) {
        const page = await store.recorded({ after, upTo: null, place: null, deviceKeys, limit: 10 });
        expect(page).toMatchObject({ expired: true, readings: [] });
      }
  });

  test('hands out what is recorded from now on, device by device, to those who want it', async () => {
    const feed = feedOver(store);
    const [one, other, unwanted] = newDevices(3) as [number, number, number];
    await send(feed, one, [[1, 1000, 'before']]);
    const events = await feed.subscribe({ accepts: (key) => key !== unwanted });
    await send(feed, unwanted, [[1, 1000, 1]]);
    await send(feed, one, [
      [1, 2000, 21.5],
      [2, 2000, 'x'],
      [1, 3000, -4],
    ]);
    await send(feed, other, [[5, 1000, 1]]);
    const [first, second] = await take(events, 2);
    expect(first).toMatchObject({
      deviceKey: one,
      fieldKeys: [1, 2, 1],
      timestamps: [2000, 2000, 3000],
      values: [21.5, 'x', -4],
    });
    expect(Math.abs(first!.receivedAt - Date.now())).toBeLessThan(60_000);
    expect(second).toMatchObject({ deviceKey: other, fieldKeys: [5], values: [1] });
    const waiting = events.next();
    await events.return?.();
    expect(await waiting).toEqual({ value: undefined, done: true });
  });

  test('goes on from a cursor, also of an event in the middle of a commit, also after a restart', async () => {
    const feed = feedOver(store);
    const events = await feed.subscribe({ accepts: all });
    // One commit of three devices.
    const devices = newDevices(4);
    const [last] = devices.slice(-1) as [number];
    await store.append({ batches: devices.slice(0, -1).flatMap((key) => receipt(key, [[1, 1000, key]]).batches) });
    await send(feed, last, [[1, 1000, last]]);
    const got = await take(events, 4);
    expect(got.map(({ deviceKey }) => deviceKey)).toEqual(devices);
    await events.return?.();
    await store.stop();
    store = await database.openStore();
    const later = feedOver(store);
    for (let at = 0; at < got.length; at += 1) {
      const resumed = await later.subscribe({ accepts: all, after: got[at]!.cursor });
      const rest = await take(resumed, 3 - at);
      expect(rest.map(({ deviceKey, values }) => [deviceKey, values])).toEqual(
        got.slice(at + 1).map(({ deviceKey, values }) => [deviceKey, values]),
      );
      await resumed.return?.();
    }
  });

  test('who names devices gets what they record, also when somebody else has followed others for long', async () => {
    const feed = feedOver(store);
    const [followed, named, neither, silent] = newDevices(4) as [number, number, number, number];
    const others = await feed.subscribe({ accepts: all, deviceKeys: new Set([followed]) });
    const [before, between] = [await feed.subscribe({ accepts: all }), 25];
    for (let at = 0; at < between; at += 1) await send(feed, followed + (at % 3), [[1, 1000 + at, at]]);
    const [first] = await take(before, between);
    await before.return?.();
    const some = { accepts: all, deviceKeys: new Set([named, silent]) };
    const [resumed, fresh] = [await feed.subscribe({ ...some, after: first!.cursor }), await feed.subscribe(some)];
    await send(feed, neither, [[1, 5000, 'not wanted']]);
    await send(feed, named, [[1, 5000, 'wanted']]);
    await send(feed, followed, [[1, 5000, 'of others']]);
    const ofDevice = (key: number): number[] =>
      Array.from({ length: between }, (_, at) => at).filter((at) => followed + (at % 3) === key);
    const valuesOf = (events: RecordedEvent[]): unknown[] => events.flatMap(({ values }) => values);
    expect(valuesOf(await take(resumed, 9))).toEqual([...ofDevice(named), 'wanted']);
    expect(valuesOf(await take(fresh, 1))).toEqual(['wanted']);
    expect(valuesOf(await take(others, 10))).toEqual([...ofDevice(followed), 'of others']);
    for (const events of [resumed, fresh, others]) await events.return?.();
  });

  test('a cursor that is none, of another database, or older than what is kept', async () => {
    const feed = feedOver(store);
    expect(await codeOf(feed.subscribe({ accepts: all, after: 'nonsense' }))).toBe('BAD_USER_INPUT');
    const future = dialect === 'sqlite' ? '999999' : '999999999:999999999:';
    for (const place of [[future], ["1'; drop table reading"], ['1:2:3:4']]) {
      const after = Buffer.from(JSON.stringify(place)).toString('base64url');
      expect(await codeOf(feed.subscribe({ accepts: all, after }))).toBe('CURSOR_EXPIRED');
    }
    const [device] = newDevices(1) as [number];
    const events = await feed.subscribe({ accepts: all });
    await send(feed, device, [[1, 1000, 1]]);
    await send(feed, device, [[1, 2000, 2]]);
    const [first, second] = await take(events, 2);
    await events.return?.();
    await store.compact([device], Infinity);
    expect(await codeOf(feed.subscribe({ accepts: all, after: first!.cursor }))).toBe('CURSOR_EXPIRED');
    if (dialect === 'sqlite') {
      const resumed = await feed.subscribe({ accepts: all, after: second!.cursor });
      await send(feed, device, [[1, 3000, 3]]);
      expect((await take(resumed, 1))[0]).toMatchObject({ values: [3] });
      await resumed.return?.();
    }
  });

  test('what was deleted does not expire a cursor', async () => {
    const feed = feedOver(store);
    const [device] = newDevices(1) as [number];
    const events = await feed.subscribe({ accepts: all });
    await send(feed, device, [[1, 1000, 1]]);
    const [first] = await take(events, 1);
    await events.return?.();
    await store.remove({ deviceKey: device, fieldKeys: [1], from: 0, to: 5000, dryRun: false });
    const resumed = await feed.subscribe({ accepts: all, after: first!.cursor });
    await send(feed, device, [[1, 6000, 6]]);
    expect((await take(resumed, 1))[0]).toMatchObject({ values: [6] });
    await resumed.return?.();
  });

  test('a reader that stands still is closed with a reason, and goes on from where it was', async () => {
    const feed = feedOver(store);
    const [device] = newDevices(1) as [number];
    const position = await store.position();
    const slow = await feed.subscribe({ accepts: all });
    const quick = await feed.subscribe({ accepts: all });
    const text = 'x'.repeat(4_000);
    const wanted: number[] = [];
    for (let at = 1; at <= 60; at += 1) {
      wanted.push(at);
      await send(
        feed,
        device,
        Array.from({ length: 20 }, (_, i): Row => [i, at, text]),
      );
      expect((await take(quick, 1))[0]!.timestamps[0]).toBe(at);
    }
    const got: number[] = [];
    let cursor = '';
    const read = async (events: AsyncIterator<RecordedEvent>): Promise<string> => {
      try {
        while (got.length < wanted.length) {
          const event = (await events.next()).value as RecordedEvent;
          cursor = event.cursor;
          got.push(event.timestamps[0]!);
        }
        return 'complete';
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    const first = (await slow.next().catch((error: { code: string }) => error.code)) as
      | IteratorResult<RecordedEvent>
      | string;
    // What lay unread is gone with it: nothing was read before, so it starts anew from the beginning.
    expect(first).toBe('OVERLOADED');
    const after = Buffer.from(JSON.stringify([position])).toString('base64url');
    const again = await feed.subscribe({ accepts: all, after });
    expect(await read(again)).toBe('complete');
    expect(got).toEqual(wanted);
    expect(cursor).not.toBe('');
    await again.return?.();
    await quick.return?.();
  });

  test('who comes back reads a page when its tenant has room for it, and not before', async () => {
    const feed = feedOver(store);
    const [device, ...named] = newDevices(32) as [number, ...number[]];
    const first = await feed.subscribe({ accepts: all });
    await send(feed, device, [[1, 1_000, 1]]);
    const [{ cursor }] = (await take(first, 1)) as [RecordedEvent];
    for (let at = 2; at <= 4; at += 1) await send(feed, device, [[1, at * 1_000, at]]);
    const subscribe = (at: number, tenant: string) =>
      // Different ones, so that none is read for another.
      feed.subscribe({
        accepts: all,
        after: cursor,
        party: { tokenId: `token ${at % 2}`, tenant },
        deviceKeys: new Set([device, named[at]!]),
      });
    const followers = await Promise.all(Array.from({ length: 30 }, (_, at) => subscribe(at, 'tenant')));
    const got = new Set<number>();
    const taking = followers.map(async (follower, at) => (await follower.take(1)).length > 0 && got.add(at));
    await expect.poll(() => got.size).toBe(24);
    const other = await subscribe(30, 'other');
    await other.take(1);
    await other.return();
    expect(got.size).toBe(24);
    const [some] = [...got];
    await followers[some!]!.return();
    await expect.poll(() => got.size).toBe(25);
    for (const follower of followers) await follower.return();
    await Promise.all(taking);
    await first.return();
  });

  test('where the database fails amid what is handed out it goes on there: nobody is told twice', async () => {
    let reads = 0;
    let asked = 0;
    const failures: string[] = [];
    const failing: Pick<Store, 'position' | 'recorded'> = {
      position: () => store.position(),
      recorded: async (query) => {
        if (query.place !== null && (reads += 1) === 1) throw new Error('the second page');
        return store.recorded(query);
      },
    };
    const onError = (error: unknown): void => void failures.push((error as Error).message);
    const feed = new RecordedFeed({ store: failing, cluster: new LocalCluster(), now: () => Date.now(), onError });
    stops.push(async () => feed.stop());
    const known = await feed.subscribe({ accepts: all });
    const asking = await feed.subscribe({
      accepts: async () => {
        if ((asked += 1) === 2) throw new Error('a device');
        return true;
      },
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const count = 2_500;
    await store.append({
      batches: newDevices(count).map((key, at) => receipt(key, [[1, 1000, at]]).batches[0]!),
    });
    feed.recorded();
    for (const events of [known, asking]) {
      const values = (await take(events, count)).map(({ values: [value] }) => value);
      expect(values).toEqual(Array.from({ length: count }, (_, at) => at));
      await events.return?.();
    }
    expect(failures.sort()).toEqual(['a device', 'the second page']);
  });

  test('who comes while it goes on there is told of what is recorded from then on, once', async () => {
    const state = { isAway: false, failed: 0 };
    const failing: Pick<Store, 'position' | 'recorded'> = {
      position: () => store.position(),
      recorded: async (query) => {
        if (query.place !== null && state.isAway) throw new Error('the second page');
        return store.recorded(query);
      },
    };
    const onError = (): void => {
      state.failed += 1;
      state.isAway = false;
    };
    const feed = new RecordedFeed({ store: failing, cluster: new LocalCluster(), now: () => Date.now(), onError });
    stops.push(async () => feed.stop());
    const first = await feed.subscribe({ accepts: all });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const values: number[] = [];
    const record = async (count: number): Promise<void> => {
      const devices = newDevices(count);
      values.push(...devices);
      await store.append({ batches: devices.map((key) => receipt(key, [[1, 1000, key]]).batches[0]!) });
      feed.recorded();
    };
    state.isAway = true;
    await record(2_500);
    await expect.poll(() => state.failed).toBe(1);
    await record(100);
    await nextMillisecond();
    const later = await feed.subscribe({ accepts: all });
    const taken = take(later, 50);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await record(50);
    const valuesOf = (events: { values: StoredValue[] }[]): StoredValue[] => events.flatMap(({ values }) => values);
    expect(valuesOf(await taken)).toEqual(values.slice(2_600));
    expect(valuesOf(await take(first, 2_650))).toEqual(values);
    for (const events of [first, later]) await events.return?.();
  });

  test('what is recorded between the failure and that is told at its end, though nothing else is recorded', async () => {
    let failed = 0;
    const feed = new RecordedFeed({
      store,
      cluster: new LocalCluster(),
      now: () => Date.now(),
      onError: () => void (failed += 1),
    });
    stops.push(async () => feed.stop());
    let asked = 0;
    const events = await feed.subscribe({
      accepts: async () => {
        if ((asked += 1) === 1) throw new Error('a device');
        return true;
      },
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const [device] = newDevices(1) as [number];
    await send(feed, device, [[1, 1000, 1]]);
    await expect.poll(() => failed).toBe(1);
    await send(feed, device, [[1, 2000, 2]]);
    expect((await take(events, 2)).map(({ values: [value] }) => value)).toEqual([1, 2]);
    await events.return?.();
  });

  onEither('who comes while the feed asks anew where it stands is told what is recorded meanwhile', async () => {
    let looks: Promise<void> = Promise.resolve();
    let asked = 0;
    const feed = feedOver({
      position: async () => {
        asked += 1;
        await looks;
        return store.position();
      },
      recorded: (query) => store.recorded(query),
    });
    await expect.poll(() => asked).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const { promise, resolve: goOn } = Promise.withResolvers<void>();
    looks = promise;
    const first = await feed.subscribe({ accepts: all });
    await expect.poll(() => asked).toBe(2);
    const second = feed.subscribe({ accepts: all });
    await nextMillisecond();
    const [device] = newDevices(1) as [number];
    await send(feed, device, [[1, 1000, 7]]);
    goOn();
    for (const events of [first, await second]) {
      expect((await take(events, 1))[0]?.values).toEqual([7]);
      await events.return?.();
    }
  });

  onEither('who comes, with however many others, holds up nobody who follows already', async () => {
    let reads = 0;
    const feed = slowFeed(() => void (reads += 1));
    const first = await feed.subscribe({ accepts: all });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const others = await Promise.all(Array.from({ length: 200 }, () => feed.subscribe({ accepts: all })));
    reads = 0;
    const [device] = newDevices(1) as [number];
    for (const value of [1, 2]) await send(feed, device, [[1, value * 1000, value]]);
    await take(first, 1);
    expect(reads).toBeLessThan(50);
    await send(feed, device, [[1, 3000, 3]]);
    for (const events of others) expect((await take(events, 3)).map(({ values: [value] }) => value)).toEqual([1, 2, 3]);
    for (const events of [first, ...others]) await events.return?.();
  });

  onEither('others have their turns while many who name devices are taken in, of whom some leave', async () => {
    const [device] = newDevices(1) as [number];
    let looks: Promise<void> = Promise.resolve();
    const feed = feedOver({
      position: () => store.position(),
      recorded: async (query) => {
        if (query.deviceKeys === null) await looks;
        return store.recorded(query);
      },
    });
    const first = await feed.subscribe({ accepts: all });
    await new Promise((resolve) => setTimeout(resolve, 100));
    // While one look takes long.
    const { promise, resolve: goOn } = Promise.withResolvers<void>();
    looks = promise;
    feed.recorded();
    const turns = countTurns();
    stops.push(async () => turns.stop());
    const inTurns = new Map<number, number>();
    let isNoted = false;
    const named = (): ReadonlySet<number> => {
      const keys = new Set([device]);
      const value = (): SetIterator<number> => {
        // As long as a thousand.
        if (isNoted) for (const end = performance.now() + 0.3; performance.now() < end;);
        if (isNoted) inTurns.set(turns.turns, (inTurns.get(turns.turns) ?? 0) + 1);
        return keys.values();
      };
      return Object.defineProperty(keys, Symbol.iterator, { value });
    };
    const others = await Promise.all(
      Array.from({ length: 300 }, () => feed.subscribe({ deviceKeys: named(), accepts: all })),
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    await others.shift()!.return();
    isNoted = true;
    goOn();
    await expect.poll(() => inTurns.size).toBeGreaterThan(0);
    await others.pop()!.return();
    await send(feed, device, [[1, 1000, 1]]);
    for (const events of others) expect((await take(events, 1))[0]).toMatchObject({ deviceKey: device, values: [1] });
    expect(Math.max(...inTurns.values())).toBeLessThan(100);
    for (const events of [first, ...others]) await events.return?.();
  });

  onEither(
    'others have their turns while much is handed out to many, and who wants the same is asked as one',
    async () => {
      const feed = feedOver(store);
      let asked = 0;
      const devices = newDevices(1_500);
      const [end] = devices.slice(-1) as [number];
      const turns = countTurns();
      stops.push(async () => turns.stop());
      let [first, last] = [Infinity, 0];
      const accepts = (): boolean => {
        first = Math.min(first, turns.turns);
        last = turns.turns;
        return false;
      };
      const many = { length: 1_000 };
      const alike = Array.from(many, () =>
        feed.subscribe({ audience: 'alike', accepts: (key) => (asked += 1) > 0 && key === end }),
      );
      const each = Array.from(many, () => feed.subscribe({ accepts }));
      const followers = await Promise.all([...alike, ...each]);
      const ofEnd = await feed.subscribe({ accepts: (key) => key === end });
      await new Promise((resolve) => setTimeout(resolve, 500));
      await store.append({
        batches: devices.map((key) => receipt(key, [[1, 1000, key]]).batches[0]!),
      });
      feed.recorded();
      await take(ofEnd, 1);
      for (const events of followers.slice(0, many.length))
        expect((await take(events, 1))[0]).toMatchObject({ deviceKey: end });
      expect(asked).toBeLessThan(10_000);
      expect(last - first).toBeGreaterThan(4);
      for (const events of [ofEnd, ...followers]) await events.return?.();
    },
  );

  onEither('who comes behind the many of another token waits for nothing that they read', async () => {
    let [reads, waiting] = [0, 0];
    const { promise: gate, resolve: open } = Promise.withResolvers<void>();
    const feed = feedOver({
      position: () => store.position(),
      recorded: async (query) => {
        waiting += 1;
        await gate;
        reads += 1;
        return store.recorded(query);
      },
    });
    const [device, ...others] = newDevices(201) as [number, ...number[]];
    const first = await feed.subscribe({ accepts: all });
    // They come while a look is on its way, and read by themselves what it finds.
    await expect
      .poll(async () => {
        await send(feed, device, [[1, 1000, 1]]);
        return waiting;
      })
      .toBe(1);
    const subscribe = (tokenId: string, own: number[]): ReturnType<RecordedFeed['subscribe']> =>
      feed.subscribe({
        deviceKeys: new Set([device, ...own]),
        accepts: all,
        party: { tokenId, tenant: tokenId },
      });
    const many = await Promise.all(others.map((other) => subscribe('many', [other])));
    const one = await subscribe('one', []);
    await send(feed, device, [[1, 2000, 1]]);
    open();
    const followers = many.map(async (events) => {
      await take(events, 1);
      await events.return?.();
    });
    expect((await take(one, 1))[0]).toMatchObject({ timestamps: [2000] });
    expect(reads).toBeLessThan(50);
    await Promise.all(followers);
    expect(reads).toBeGreaterThan(200);
    for (const events of [first, one]) await events.return?.();
  });

  test('what is handed out stands in the line of none of those who follow', async () => {
    const feed = feedOver(store);
    const seen = new Set<string>();
    const party = { tokenId: 'first', tenant: 'first' };
    const accepts = (): boolean => seen.add(currentCaller().tokenId).size > 0;
    const events = await runAs(party, () => feed.subscribe({ accepts, party }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    seen.clear();
    const [device] = newDevices(1) as [number];
    await runAs(party, () => send(feed, device, [[1, 1000, 1]]));
    await take(events, 1);
    expect([...seen]).toEqual(['']);
    await events.return?.();
  });

  test.each([0, 1])(
    'devices that nobody knows yet are looked up together, %i others being told of them without',
    async (others) => {
      const feed = feedOver(store);
      // As who watches the status of devices.
      const watching = await Promise.all(
        Array.from({ length: others }, () => feed.subscribe({ accepts: () => false })),
      );
      await new Promise((resolve) => setTimeout(resolve, 100 * others));
      let [atOnce, most] = [0, 0];
      const events = await feed.subscribe({
        accepts: async () => {
          most = Math.max(most, (atOnce += 1));
          await new Promise((resolve) => setTimeout(resolve, 1));
          atOnce -= 1;
          return true;
        },
      });
      await new Promise((resolve) => setTimeout(resolve, 100));
      const devices = newDevices(30);
      await store.append({ batches: devices.map((key) => receipt(key, [[1, 1000, key]]).batches[0]!) });
      feed.recorded();
      expect((await take(events, 30)).map(({ deviceKey }) => deviceKey)).toEqual(devices);
      expect(most).toBe(30);
      for (const one of [events, ...watching]) await one.return?.();
    },
  );

  onEither('who waits until it is taken in has no more to read the longer that takes', async () => {
    const count = 100;
    const [device] = newDevices(1) as [number];
    let [most, onRead] = [0, (): void => {}];
    const feed = slowFeed(({ readings }) => {
      most = Math.max(most, readings.length);
      onRead();
    });
    const first = await feed.subscribe({ accepts: all });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const others = await Promise.all(Array.from({ length: count }, () => feed.subscribe({ accepts: all })));
    // As many as are read for those who are taken in, and for all others.
    for (let at = 1; at <= count; at += 1) {
      const read = new Promise<void>((resolve) => (onRead = resolve));
      await send(feed, device, [[1, at, at]]);
      await read;
    }
    const told = async (events: AsyncIterator<RecordedEvent>): Promise<unknown[]> => {
      const values: unknown[] = [];
      while (values.length < count) values.push(...(await take(events, 1))[0]!.values);
      return values;
    };
    const sent = Array.from({ length: count }, (_, before) => before + 1);
    for (const events of [first, ...others]) {
      expect(await told(events)).toEqual(sent);
      await events.return?.();
    }
    expect(most).toBeLessThan(count / 3);
  });

  test('a device that sends without a pause is told of in few events, which miss nothing', async () => {
    const feed = feedOver(store);
    const [device] = newDevices(1) as [number];
    const events = await feed.subscribe({ accepts: all, deviceKeys: new Set([device]) });
    const count = 1_500;
    let commits = 0;
    // Whoever resumes at the end of any of the events goes on behind it.
    const got: { values: StoredValue[]; cursor: string }[] = [];
    const sending = (async () => {
      for (; commits < count; commits += 1) {
        await store.append(receipt(device, [[1, 1_000 + commits, commits]]));
        // Told of when a look is long over, as on a busy server.
        if (commits % 300 === 299) feed.recorded();
      }
    })();
    for (let seen = 0; seen < count; seen += got.at(-1)!.values.length) {
      const { values, cursor } = (await events.next()).value as RecordedEvent;
      got.push({ values, cursor });
    }
    await sending;
    await events.return?.();
    expect(got.flatMap(({ values }) => values)).toEqual(Array.from({ length: count }, (_, at) => at));
    expect(got.length).toBeLessThan(count / 5);
    let seen = 0;
    for (const { values, cursor } of got.slice(0, -1)) {
      seen += values.length;
      const resumed = await feed.subscribe({ accepts: all, after: cursor });
      expect((await take(resumed, 1))[0]!.values[0]).toBe(seen);
      await resumed.return?.();
    }
  });

  test.each([1, 2, 3])('misses nothing and repeats nothing over disconnects while writing, seed %i', async (seed) => {
    const pick = random(seed);
    const feed = feedOver(store);
    const devices = newDevices(4);
    // On PostgreSQL a second node writes too; it says so to nobody.
    const other = dialect === 'postgres' ? await database.openStore() : store;
    if (other !== store) stops.push(() => other.stop());
    const expected = new Map<string, StoredValue>();
    const nothingYet = await feed.subscribe({ accepts: all });
    const [begin, finish] = newDevices(2) as [number, number];
    await send(feed, begin, [[1, 1, 0]]);
    let { cursor } = (await take(nothingYet, 1))[0]!;
    await nothingYet.return?.();

    const writers = Array.from({ length: 6 }, async (_, writer) => {
      for (let at = 0; at < 40; at += 1) {
        const deviceKey = devices[pick(4)]!;
        const rows: Row[] = Array.from({ length: 1 + pick(5) }, (__, i) => [
          i,
          writer * 1_000_000 + at * 10 + pick(3),
          pick(1000),
        ]);
        const node = at % 2 === 0 ? store : other;
        await node.append(receipt(deviceKey, rows));
        if (node === store) feed.recorded();
        for (const [field, timestamp, value] of rows) expected.set(`${deviceKey} ${field} ${timestamp}`, value);
        if (pick(10) === 0) await new Promise((resolve) => setTimeout(resolve, pick(10)));
      }
    });
    const done = Promise.all(writers).then(() => send(feed, finish, [[1, 1, 'end']]));
    const got = new Map<string, StoredValue>();
    const seen = new Set<string>();
    let doubled = 0;
    let isEnd = false;
    while (!isEnd) {
      const events = await feed.subscribe({ accepts: all, after: cursor });
      for (let left = 1 + pick(20); left > 0 && !isEnd; left -= 1) {
        const event = (await events.next()).value as RecordedEvent;
        cursor = event.cursor;
        isEnd = event.deviceKey === finish;
        event.timestamps.forEach((timestamp, at) => {
          const key = `${event.deviceKey} ${event.fieldKeys[at]} ${timestamp}`;
          got.set(key, event.values[at]!);
          const once = `${key} ${event.values[at]} ${event.receivedAt}`;
          if (seen.has(once)) doubled += 1;
          seen.add(once);
        });
      }
      await events.return?.();
    }
    await done;
    got.delete(`${finish} 1 1`);
    expect(Object.fromEntries([...got].sort())).toEqual(Object.fromEntries([...expected].sort()));
    // A moment that was written again comes whole, the rest once.
    expect(doubled).toBeLessThan(expected.size / 2);
  });
});

test('on PostgreSQL a commit belongs behind the positions at which it was not done', async () => {
  const database = await openDatabase('postgres');
  const store = await database.openStore();
  const [before, other] = [await store.position(), new pg.Client({ connectionString: database.place })];
  await other.connect();
  await other.query('BEGIN');
  // It has its place in the order of transactions before those that are done first.
  await other.query("INSERT INTO reading (device_key, ts, stored_at, packed) VALUES (2, 1000, 1, '')");
  await store.append(receipt(1, [[1, 1000, 1]]));
  const between = await store.position();
  await other.query('COMMIT');
  await other.end();
  await store.append(receipt(3, [[1, 1000, 3]]));
  const devices = async (after: string, upTo: string | null): Promise<number[]> => {
    const page = await store.recorded({ after, upTo, place: null, deviceKeys: null, limit: 10 });
    return page.readings.map(({ deviceKey }) => deviceKey);
  };
  expect(await devices(before, between)).toEqual([1]);
  expect(await devices(between, null)).toEqual([2, 3]);
  expect(await devices(before, null)).toEqual([2, 1, 3]);
  await store.stop();
  await database.close();
});

/**
 * Until of what other tests have in progress on this server nothing began before the newest reading, but so many that stay
 * open: a position expires when what was in progress at it ends behind what was moved.
 */
async function settled(database: OpenDatabase, open = '0'): Promise<void> {
  const inProgress = `SELECT count(*) AS n FROM pg_snapshot_xip(pg_current_snapshot()) AS late (id)
    WHERE id < (SELECT seq FROM reading ORDER BY seq DESC LIMIT 1)`;
  await expect.poll(async () => database.sql(inProgress)).toEqual([{ n: open }]);
}

test('on PostgreSQL a transaction of somebody else that stays open expires no position, nor does its end', async () => {
  const database = await openDatabase('postgres');
  const store = await database.openStore();
  // As one in any database of the server.
  const other = new pg.Client({ connectionString: database.place });
  await other.connect();
  await other.query('BEGIN');
  await other.query('SELECT pg_current_xact_id()');
  const values = async (after: string): Promise<unknown[]> => {
    const page = await store.recorded({ after, upTo: null, place: null, deviceKeys: null, limit: 10 });
    return page.expired ? ['expired'] : page.readings.flatMap(({ values: [value] }) => value);
  };
  const record = (value: number): Promise<number> => store.append(receipt(1, [[1, value, value]]));
  const first = await store.position();
  await record(1);
  await settled(database, '1');
  const before = await store.position();
  await store.compact([1], Infinity);
  await record(2);
  const after = await store.position();
  await record(3);
  expect([await values(first), await values(before), await values(after)]).toEqual([['expired'], [2, 3], [3]]);
  await other.query('COMMIT');
  await other.end();
  expect([await values(first), await values(after)]).toEqual([['expired'], [3]]);
  await store.stop();
  await database.close();
});

test('on PostgreSQL a transaction of somebody else expires no position when the horizon has passed it since', async () => {
  const database = await openDatabase('postgres');
  const store = await database.openStore();
  const other = new pg.Client({ connectionString: database.place });
  await other.connect();
  const values = async (after: string): Promise<unknown[]> => {
    const page = await store.recorded({ after, upTo: null, place: null, deviceKeys: null, limit: 10 });
    return page.expired ? ['expired'] : page.readings.flatMap(({ values: [value] }) => value);
  };
  await settled(database);
  await other.query('BEGIN');
  await other.query('SELECT pg_current_xact_id()');
  await store.append(receipt(1, [[1, 1, 'moved']]));
  const after = await store.position();
  await store.append(receipt(2, [[1, 1, 'since']]));
  await other.query('COMMIT');
  await store.compact([1], Infinity);
  expect(await values(after)).toEqual(['since']);
  await other.end();
  await store.stop();
  await database.close();
});

test('on PostgreSQL who subscribes after a failover follows from then on, though nothing was recorded since', async () => {
  const database = await openDatabase('postgres');
  const store = await database.openStore();
  await settled(database);
  const position = await store.position();
  // Of the timeline before.
  let known = position.replace(/\w{8}$/, 'FFFFFFFF');
  const feed = new RecordedFeed({
    store: { position: () => Promise.resolve(known), recorded: (query) => store.recorded(query) },
    cluster: new LocalCluster(),
    now: () => Date.now(),
    onError: (error) => expect.unreachable(String(error)),
  });
  await new Promise(setImmediate);
  known = position;
  const events = await feed.subscribe({ accepts: () => true });
  await store.append(receipt(1, [[1, 1, 'since']]));
  feed.recorded();
  expect((await events.next()).value).toMatchObject({ values: ['since'] });
  await events.return();
  feed.stop();
  await store.stop();
  await database.close();
});

test('on PostgreSQL a transaction of ours that lasts is told of, or expires positions, however new what was moved is', async () => {
  const database = await openDatabase('postgres');
  const [store, another] = [await database.openStore(), await database.openStore()];
  await store.append(receipt(1, [[1, 1, 1]]));
  const other = new pg.Client({ connectionString: database.place });
  await other.connect();
  await other.query('BEGIN');
  await other.query('SELECT 1 FROM reading WHERE device_key = 1 FOR UPDATE');
  const late = store.append(receipt(1, [[1, 1, 2]]));
  await expect
    .poll(() =>
      database.sql(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'transactionid'",
      ),
    )
    .toHaveLength(1);
  await another.append(receipt(2, [[1, 1, 3]]));
  await another.compact([2], Infinity);
  const after = await another.position();
  await other.query('COMMIT');
  await late;
  const { expired } = await store.recorded({ after, upTo: null, place: null, deviceKeys: null, limit: 10 });
  expect(expired).toBe(true);
  await other.end();
  await Promise.all([store.stop(), another.stop()]);
  await database.close();
});

test.each(DIALECTS)(
  'on %s a file over moments that were followed live expires no positions of others',
  async (dialect) => {
    const database = await openDatabase(dialect);
    const store = await database.openStore();
    await store.append(receipt(1, [[1, 1, 1]]));
    await new Promise((resolve) => setTimeout(resolve, 20));
    const kept = Date.now();
    if (dialect === 'postgres') await settled(database);
    const after = await store.position();
    await store.append(receipt(2, [[1, 1, 2]]));
    await store.append(receipt(1, [[1, 1, 3]], LONG_AGO));
    await store.compact([1], kept);
    const page = await store.recorded({ after, upTo: null, place: null, deviceKeys: [2], limit: 10 });
    expect(page).toMatchObject({ expired: false, readings: [{ deviceKey: 2, values: [2] }] });
    await store.stop();
    await database.close();
  },
);

test.each(DIALECTS)(
  'on %s what is not published stays so beside what its device sends in the same commit',
  async (dialect) => {
    const database = await openDatabase(dialect);
    const store = await database.openStore();
    const after = await store.position();
    await Promise.all([
      store.append(receipt(1, [[1, 1, 1], [1, 3, 3]])), // oxfmt-ignore
      store.append(receipt(1, [[1, 2, 2], [2, 3, 4]], LONG_AGO)), // oxfmt-ignore
    ]);
    const query = { after, place: null, deviceKeys: null, limit: 10 };
    const { upTo } = await store.recorded({ ...query, upTo: null });
    // As the database has it.
    const { readings } = await store.recorded({ ...query, upTo });
    expect(readings.map(({ timestamp }) => timestamp)).toEqual([1, 3]);
    await store.stop();
    await database.close();
  },
);
