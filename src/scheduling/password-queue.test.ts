import { expect, test } from 'vitest';
import { LaneCounts } from './lane-counts.ts';
import { PasswordQueue } from './password-queue.ts';

/** Names in the order in which they were started, and evicted. */
function watched(queue: PasswordQueue) {
  const went: string[] = [];
  const evicted: string[] = [];
  const wait = (caller: string, name: string): void =>
    void queue.wait(caller).then((isTurn) => (isTurn ? went : evicted).push(name));
  return { went, evicted, wait };
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('callers take turns, however many one of them has waiting', async () => {
  const queue = new PasswordQueue(10, new LaneCounts());
  const { went, wait } = watched(queue);
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) wait(name[0]!, name);
  while (!queue.isEmpty) {
    queue.next();
    await settled();
  }
  expect(went).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  queue.next();
});

test('a full line makes room for who has less, and for nobody else', async () => {
  const queue = new PasswordQueue(4, new LaneCounts());
  const { went, evicted, wait } = watched(queue);
  for (const name of ['a1', 'a2', 'a3', 'a4']) wait('a', name);
  expect(queue.hasRoom('a')).toBe(false);
  expect(queue.hasRoom('b')).toBe(true);
  wait('a', 'a5');
  wait('b', 'b1');
  wait('b', 'b2');
  // Two each: neither has fewer.
  expect(queue.hasRoom('b')).toBe(false);
  wait('b', 'b3');
  expect(queue.hasRoom('c')).toBe(true);
  wait('c', 'c1');
  expect(queue.hasRoom('d')).toBe(true);
  wait('d', 'd1');
  // One each.
  expect(queue.hasRoom('e')).toBe(false);
  wait('e', 'e1');
  await settled();
  expect(evicted.toSorted()).toEqual(['a2', 'a3', 'a4', 'a5', 'b2', 'b3', 'e1']);
  for (let turn = 0; turn < 4; turn += 1) queue.next();
  await settled();
  expect(went.toSorted()).toEqual(['a1', 'b1', 'c1', 'd1']);
  expect(queue.isEmpty).toBe(true);
});
