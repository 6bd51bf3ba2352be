import { once } from 'node:events';
import { expect } from 'vitest';
import type { TestServer } from './server.ts';

/** Shorter ones are turns of an idle event loop. */
const LEAST_MS = 0.2;
/** Maximum tries: what else the process does, such as collecting garbage, makes a piece longer and never shorter. */
const TRIES = 3;

/**
 * How many pieces as long as its longest one the work makes up, between two turns of this thread's event loop: one if
 * nobody else is heard before it ends. A slow or busy machine changes nothing, as only processor time is compared.
 */
export async function piecesOf(work: () => unknown): Promise<number> {
  const usedMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  const pieces: number[] = [];
  let [before, isOver] = [usedMs(), false];
  const look = (): void => {
    const now = usedMs();
    if (now - before >= LEAST_MS) pieces.push(now - before);
    before = now;
    // Held by nothing, or the loop would spin while it waits.
    if (!isOver) setImmediate(look).unref();
  };
  setImmediate(look).unref();
  try {
    await work();
  } finally {
    isOver = true;
    look();
  }
  return counted(pieces);
}

/** The same of the event loop of a server that was started with `watched`. */
export async function piecesOfServer(server: TestServer, work: () => Promise<unknown>): Promise<number> {
  const { child } = server.process;
  const say = async (word: 'begin' | 'end'): Promise<unknown> => {
    const answered = once(child, 'message');
    child.send(word);
    return (await answered)[0];
  };
  await say('begin');
  await work();
  return counted((await say('end')) as number[]);
}

/**
 * Expects that others are heard at least so many times while work goes on that can be done again: the most of three
 * measurements, by `piecesOf` or `piecesOfServer`.
 */
export async function expectPieces(least: number, measure: () => Promise<number>): Promise<void> {
  let most = 0;
  for (let tries = 0; tries < TRIES && most < least; tries += 1) most = Math.max(most, await measure());
  expect(most, 'pieces as long as the longest').toBeGreaterThanOrEqual(least);
}

function counted(pieces: readonly number[]): number {
  if (pieces.length === 0) return 1;
  return pieces.reduce((sum, ms) => sum + ms, 0) / Math.max(...pieces);
}
