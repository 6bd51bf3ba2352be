import { expect, test } from 'vitest';
import { BoundedStream } from './bounded-stream.ts';
import { UnreadMemory } from './unread-memory.ts';

interface Item {
  bytes: number;
}

const MEGABYTE = 1_048_576;

function openStreams() {
  const memory = new UnreadMemory();
  const open = (tenant: string): { stream: BoundedStream<Item>; isEnded: () => boolean } => {
    let isEnded = false;
    const stream = new BoundedStream<Item>({
      sizeOf: ({ bytes }) => bytes,
      read: (item) => item,
      maxUnread: 4 * MEGABYTE,
      tooSlow: 'too slow',
      besides: () => memory.of(tenant),
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
