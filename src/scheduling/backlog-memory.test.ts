import { expect, test } from 'vitest';
import { BoundedStream } from './bounded-stream.ts';
import { BacklogMemory } from './backlog-memory.ts';

interface Item {
  bytes: number;
}

const MEGABYTE = 1_048_576;

function openStreams() {
  const memory = new BacklogMemory();
  const open = (tenant: string): { stream: BoundedStream<Item>; isEnded: () => boolean } => {
    let isEnded = false;
    const stream = new BoundedStream<Item>({
      sizeOf: ({ bytes }) => bytes,
      read: (item) => item,
      maxUnread: 4 * MEGABYTE,
      tooSlow: 'too slow',
      backlog: memory.of(tenant),
      onEnd: () => (isEnded = true),
    });
    return { stream, isEnded: () => isEnded };
  };
  return { open };
}

const megabyte = (): Item => ({ bytes: MEGABYTE });

test('slow readers of a tenant have 64 MB unread together: beyond that those that have most are ended', async () => {
  const { open } = openStreams();
  const slow = Array.from({ length: 20 }, () => open('tenant'));
  const other = open('other');
  for (let times = 0; times < 3; times += 1) for (const { stream } of slow) stream.offer(megabyte());
  other.stream.offer(megabyte());
  expect(slow.filter(({ isEnded }) => isEnded())).toHaveLength(0);
  for (const { stream } of slow.slice(0, 6)) stream.offer(megabyte());
  // The fifth of these six is beyond sixty-four, and ends the first of those with four.
  expect(slow.map(({ isEnded }) => isEnded()).indexOf(true)).toBe(0);
  expect(slow.filter(({ isEnded }) => isEnded())).toHaveLength(1);
  expect(other.isEnded()).toBe(false);
  await expect(slow[0]!.stream.take(1)).rejects.toMatchObject({ code: 'OVERLOADED' });
  // What is read is free again.
  expect(await slow[1]!.stream.take(10)).toHaveLength(4);
  for (let times = 0; times < 3; times += 1) slow[1]!.stream.offer(megabyte());
  expect(slow.filter(({ isEnded }) => isEnded())).toHaveLength(1);
});

test('what many have unread counts once, and what they leave is forgotten', async () => {
  const { open } = openStreams();
  const all = Array.from({ length: 1_000 }, () => open('tenant'));
  for (let round = 0; round < 30; round += 1) {
    const items = [megabyte(), megabyte(), megabyte()];
    for (const item of items) for (const { stream } of all) stream.offer(item);
    if (round % 2 === 0) for (const { stream } of all) expect(await stream.take(5)).toHaveLength(3);
    else
      for (const { stream } of all) {
        stream.drop(() => true);
        expect(stream.unreadBytes).toBe(0);
      }
  }
  expect(all.filter(({ isEnded }) => isEnded())).toHaveLength(0);
  for (const { stream } of all) await stream.return();
});

test('what many have of which each has little is counted, too, and what each keeps of what all share', async () => {
  const { open } = openStreams();
  const little = (): Item => ({ bytes: 100_000 });
  const all = Array.from({ length: 2_000 }, () => open('tenant'));
  for (let times = 0; times < 2; times += 1) for (const { stream } of all) stream.offer(little());
  const left = all.filter(({ isEnded }) => !isEnded());
  expect(left.length * 200_000).toBeLessThan(90 * MEGABYTE);
  expect(left.length * 200_000).toBeGreaterThan(50 * MEGABYTE);
  for (const { stream } of all) await stream.return();
  // Each has its own list of a thousand.
  const told = Array.from({ length: 6_000 }, () => open('tenant'));
  for (let times = 0; times < 1_000; times += 1) {
    const item: Item = { bytes: 200 };
    for (const { stream } of told) stream.offer(item);
  }
  expect(told.filter(({ isEnded }) => isEnded()).length).toBeGreaterThan(0);
  for (const { stream } of told) await stream.return();
  expect(open('tenant').isEnded()).toBe(false);
});

test('of all tenants together those are ended that have more than their part', async () => {
  const { open } = openStreams();
  const tenants = Array.from({ length: 6 }, (_, at) =>
    Array.from({ length: at === 0 ? 2 : 14 }, () => open(`tenant ${at}`)),
  );
  for (let times = 0; times < 3; times += 1)
    for (const streams of tenants) for (const { stream } of streams) stream.offer(megabyte());
  const endedOf = (streams: (typeof tenants)[number]): number => streams.filter(({ isEnded }) => isEnded()).length;
  expect(endedOf(tenants[0]!)).toBe(0);
  expect(tenants.reduce((sum, streams) => sum + 3 * (streams.length - endedOf(streams)), 0)).toBeLessThan(195);
  for (const { stream } of tenants.flat()) await stream.return();
});
