import { expect, test } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { countTurns } from '../support/loop-turns.ts';
import { piecesOf } from '../support/pieces.ts';
import { LiveFeed } from '../../src/domain/live/live-feed.ts';

interface Event {
  topic: number;
}

const newFeed = (read = (event: Event): Event => event): LiveFeed<Event, number> =>
  new LiveFeed<Event, number>(({ topic }) => topic, {
    sizeOf: () => 100,
    read,
    maxUnread: 10_000,
    tooSlow: 'too slow',
  });

/** So many subscriptions to all topics, or to these. */
function subscribe(feed: LiveFeed<Event, number>, count: number, topics: ReadonlySet<number> | null = null) {
  return Array.from({ length: count }, () => {
    const subscription = feed.open({ topics, audience: 'one' }, 'tenant');
    feed.add(subscription);
    return subscription;
  });
}

test('others have their turns while very many who named topics are gone at the same moment', async () => {
  const feed = newFeed();
  const some = subscribe(feed, 1_000, new Set(Array.from({ length: 1_000 }, (_, topic) => topic)));
  const [other] = subscribe(feed, 1, new Set([7]));
  const pieces = await piecesOf(async () => {
    await Promise.all(some.map((subscription) => subscription.return()));
    expect(feed.size).toBe(1);
    await expect.poll(() => feed.topics).toEqual([7]);
  });
  expect(pieces).toBeGreaterThanOrEqual(3);
  await feed.notify([{ topic: 7 }]);
  expect(await other!.take(10)).toEqual([{ topic: 7 }]);
});

test.each([
  // 30 ms in slices of 5.
  { what: 'one event is handed out to many who want the same', count: 300, takesMs: 0.1, isAwaited: false },
  // What they do takes some 50 ms.
  { what: 'many who waited for one event read it', count: 5_000, takesMs: 0, isAwaited: true },
])('others have their turns while $what', async ({ count, takesMs, isAwaited }) => {
  const turns = countTurns();
  const seen = new Set<number>();
  const wants = (): boolean => {
    if (!isAwaited) seen.add(turns.turns);
    for (const end = performance.now() + takesMs; performance.now() < end;);
    return true;
  };
  const feed = newFeed();
  const reading = Array.from({ length: count }, async () => {
    const subscription = feed.open({ topics: null, audience: 'one', wants }, 'tenant');
    feed.add(subscription);
    if (!isAwaited) return;
    await subscription.take(1);
    seen.add(turns.turns);
  });
  await feed.notify([{ topic: 1 }]);
  await Promise.all(reading);
  turns.stop();
  expect(seen.size).toBeGreaterThan(3);
});

test('of one audience one is asked, for all events of a topic once; when it cannot say nobody gets any', async () => {
  const feed = newFeed();
  const asked: number[] = [];
  let isAway = true;
  const accepts = async (topic: number): Promise<boolean> => {
    asked.push(topic);
    if (isAway) throw new AppError('UNAVAILABLE', 'away');
    return topic === 1;
  };
  const both = [1, 2].map(() => feed.open({ topics: null, audience: 'one', accepts }, 'tenant'));
  for (const subscription of both) feed.add(subscription);
  const events = [1, 2, 1].map((topic) => ({ topic }));
  await expect(feed.notify(events)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  isAway = false;
  await feed.notify(events);
  expect(asked).toEqual([1, 2, 1, 2]);
  for (const subscription of both) expect(await subscription.take(10)).toEqual([events[0], events[2]]);
});

test('one that has failed, or has ended, gets nothing behind that, and others do', async () => {
  const feed = newFeed();
  const [failed, ended] = subscribe(feed, 2, new Set([1]));
  const [other] = subscribe(feed, 1, new Set([1, 2]));
  await ended!.return();
  feed.fail(new AppError('UNAVAILABLE', 'missed'), 1);
  await feed.notify([{ topic: 1 }]);
  const [later] = subscribe(feed, 1, new Set([1]));
  await feed.notify([{ topic: 1 }]);
  for (const subscription of [failed!, other!])
    await expect(subscription.take(1)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  expect(await ended!.take(1)).toEqual([]);
  expect(await later!.take(10)).toEqual([{ topic: 1 }]);
});
