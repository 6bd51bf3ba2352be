import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { eachInTurns, yieldToEventLoop, nextTurn, TransactionSlices } from './yield-to-event-loop.ts';
import { runAs } from './current-caller.ts';

let now = 0;
beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => now));
afterEach(() => void vi.restoreAllMocks());

test('of many works that give way together one goes on in each turn of the event loop', async () => {
  const [slices, works] = [3, 20];
  const order: number[] = [];
  const turns: number[] = [];
  let [turn, isOver] = [0, false];
  const count = (): void => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const work = async (_: unknown, name: number): Promise<void> => {
    for (let slice = 0; slice < slices; slice += 1) {
      await yieldToEventLoop();
      turns.push(turn);
      order.push(name);
    }
  };
  await Promise.all(Array.from({ length: works }, work));
  isOver = true;
  expect(new Set(turns).size).toBe(slices * works);
  const names = Array.from({ length: works }, (_, name) => name);
  expect(order).toEqual([...names, ...names, ...names]);
});

test('tenants take turns, and within each its tokens, whoever gave way more often before', async () => {
  const order: string[] = [];
  const wait = (tenant: string, tokenId: string): Promise<unknown> =>
    runAs({ tenant, tokenId }, async () => {
      await yieldToEventLoop();
      order.push(tokenId);
    });
  const many = (tokenId: string): Promise<unknown>[] => [1, 2, 3].map(() => wait('a', tokenId));
  await Promise.all([...many('a1'), ...many('a2'), wait('b', 'b1'), wait('b', 'b1'), wait('c', 'c1')]);
  expect(order).toEqual(['a1', 'b1', 'c1', 'a2', 'b1', 'a1', 'a2', 'a1', 'a2']);
});

test('who goes through very many lets others have their turn, and who is in a transaction stands behind none of them', async () => {
  const order: string[] = [];
  const compute = (name: string): void => {
    order.push(name);
    now += 3;
  };
  setImmediate(() => order.push('somebody'));
  await eachInTurns(['a', 'b', 'c', 'd'], compute);
  expect(order.indexOf('somebody')).toBeGreaterThan(0);
  expect(order.indexOf('somebody')).toBeLessThan(4);
  const ended: string[] = [];
  const waiting = Array.from({ length: 20 }, () => yieldToEventLoop().then(() => ended.push('waits')));
  await nextTurn();
  expect(ended.length).toBeLessThan(3);
  await Promise.all(waiting);
});

test('work within a transaction waits for few turns of others, and lets them have theirs', async () => {
  let [turns, isOver] = [0, false];
  const takeTurn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(takeTurn);
  };
  setImmediate(takeTurn);
  const slices = new TransactionSlices();
  for (let at = 0; at < 50; at += 1) {
    now += 2;
    await slices.next();
  }
  isOver = true;
  expect(turns).toBeGreaterThan(2);
  // One each 20 ms.
  expect(turns).toBeLessThanOrEqual(6);
});
