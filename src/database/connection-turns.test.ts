import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runAs } from '../scheduling/current-caller.ts';
import { ConnectionTurns } from './connection-turns.ts';

const ATTACKER = { tokenId: 'a', tenant: 'attacker' };
const VICTIM = { tokenId: 'v', tenant: 'victim' };

let now = 0;
const compute = (ms: number): void => void (now += ms);

beforeEach(() => void vi.spyOn(performance, 'now').mockImplementation(() => now));
afterEach(() => void vi.restoreAllMocks());

test('look-ups of one operation do not keep the event loop, nor somebody else who comes behind them', async () => {
  const turns = new ConnectionTurns();
  const read: string[] = [];
  const lookUp = async (name: string): Promise<void> => {
    await turns.read(() => read.push(name));
    // Work on the rows.
    compute(2);
  };
  let [heard, longest] = [0, 0];
  const hear = (): void => {
    const before = read.length;
    setImmediate(() => {
      heard += 1;
      longest = Math.max(longest, read.length - before);
      if (read.length < 61) hear();
    });
  };
  hear();
  const many = runAs(ATTACKER, () => Promise.all(Array.from({ length: 60 }, () => lookUp('attacker'))));
  await runAs(VICTIM, () => lookUp('victim'));
  expect(read.length).toBeLessThan(10);
  await many;
  expect(read).toHaveLength(61);
  expect(heard).toBeGreaterThan(10);
  expect(longest).toBeLessThan(30);
});

test('a transaction is alone, and waits for no more look-ups than one turn has time for', async () => {
  const turns = new ConnectionTurns();
  let [read, isOpen] = [0, false];
  const many = Array.from({ length: 60 }, async () => {
    await turns.read(() => {
      expect(isOpen).toBe(false);
      read += 1;
    });
    compute(2);
  });
  for (let at = 0; at < 3; at += 1) {
    await turns.begin();
    isOpen = true;
    expect(read).toBeLessThan(10 + 10 * at);
    await new Promise((resolve) => setImmediate(resolve));
    isOpen = false;
    turns.end();
  }
  await Promise.all(many);
  expect(read).toBe(60);
});

test('what a look-up throws is its own', async () => {
  const turns = new ConnectionTurns();
  await turns.begin();
  const fails = turns.read(() => {
    throw new Error('no such table');
  });
  const next = turns.read(() => 1);
  turns.end();
  await expect(fails).rejects.toThrow('no such table');
  expect(await next).toBe(1);
});
