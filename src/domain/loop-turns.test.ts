import { expect, test } from 'vitest';
import { LoopTurns } from './loop-turns.ts';
import { whoseWork, worksFor } from './whose-work.ts';

const LONG_MS = 10;

test('of works that wait for each other the next is of the tenant whose turn it is, and short ones go together', async () => {
  const turns = new LoopTurns(LONG_MS / 2);
  const order: string[] = [];
  const work = (tenant: string, leadsToMs: number): Promise<unknown> =>
    worksFor({ tenant, tokenId: tenant }, () => turns.run(async () => order.push(whoseWork().tenant), leadsToMs));
  const long = Array.from({ length: 5 }, () => work('long', LONG_MS));
  const short = Array.from({ length: 3 }, () => work('short', 0));
  await Promise.all([...long, ...short]);
  expect(order).toEqual(['long', 'long', 'short', 'short', 'short', 'long', 'long', 'long']);
});

test('a work that fails holds up nobody', async () => {
  const turns = new LoopTurns();
  const failing = turns.run(() => Promise.reject(new Error('no')));
  const next = turns.run(async () => 'next');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('next');
});
