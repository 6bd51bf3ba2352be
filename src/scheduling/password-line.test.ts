import { expect, test } from 'vitest';
import { RoundRobinQueue } from './password-line.ts';

/** Who was let go on, and who had to give up, in that order. */
function watched(line: RoundRobinQueue) {
  const went: string[] = [];
  const gaveUp: string[] = [];
  const wait = (caller: string, name: string): void =>
    void line.wait(caller).then((isTurn) => (isTurn ? went : gaveUp).push(name));
  return { went, gaveUp, wait };
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('callers take turns, however many one of them has waiting', async () => {
  const line = new RoundRobinQueue(10);
  const { went, wait } = watched(line);
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) wait(name[0]!, name);
  while (!line.isEmpty) {
    line.next();
    await settled();
  }
  expect(went).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  line.next();
});

test('a full line makes room for who has less, and for nobody else', async () => {
  const line = new RoundRobinQueue(4);
  const { went, gaveUp, wait } = watched(line);
  for (const name of ['a1', 'a2', 'a3', 'a4']) wait('a', name);
  expect(line.hasRoom('a')).toBe(false);
  expect(line.hasRoom('b')).toBe(true);
  wait('a', 'a5');
  wait('b', 'b1');
  wait('b', 'b2');
  // Two each: nobody is better off than the other.
  expect(line.hasRoom('b')).toBe(false);
  wait('b', 'b3');
  expect(line.hasRoom('c')).toBe(true);
  wait('c', 'c1');
  expect(line.hasRoom('d')).toBe(true);
  wait('d', 'd1');
  // One each.
  expect(line.hasRoom('e')).toBe(false);
  wait('e', 'e1');
  await settled();
  expect(gaveUp.toSorted()).toEqual(['a2', 'a3', 'a4', 'a5', 'b2', 'b3', 'e1']);
  for (let turn = 0; turn < 4; turn += 1) line.next();
  await settled();
  expect(went.toSorted()).toEqual(['a1', 'b1', 'c1', 'd1']);
  expect(line.isEmpty).toBe(true);
});
