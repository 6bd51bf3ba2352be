import { expect, test } from 'vitest';
import { EventLoopQueue } from './event-loop-queue.ts';
import { LANES } from './lanes.ts';
import { currentCaller, runAs } from './current-caller.ts';

const LONG_MS = 10;

test('of works that wait for each other the next is of the tenant whose turn it is, and short ones go together', async () => {
  const turns = new EventLoopQueue({ name: 'test', maxTurnMs: LONG_MS / 2 });
  const order: string[] = [];
  const work = (tenant: string, followUpMs: number): Promise<unknown> =>
    runAs({ tenant, tokenId: tenant }, () => turns.run(async () => order.push(currentCaller().tenant), followUpMs));
  const long = Array.from({ length: 5 }, () => work('long', LONG_MS));
  const short = Array.from({ length: 3 }, () => work('short', 0));
  await Promise.all([...long, ...short]);
  expect(order).toEqual(['long', 'long', 'short', 'short', 'short', 'long', 'long', 'long']);
});

test('a work that fails holds up nobody', async () => {
  const turns = new EventLoopQueue(LANES.socketMessages);
  const failing = turns.run(() => Promise.reject(new Error('no')));
  const next = turns.run(async () => 'next');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('next');
});
