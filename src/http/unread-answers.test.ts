import type { Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { UnreadAnswers } from './unread-answers.ts';

afterEach(() => vi.useRealTimers());

/** A connection with bytes of an answer that its client has not taken yet. */
function unread(remoteAddress: string, writableLength: number): Socket & { destroy: ReturnType<typeof vi.fn> } {
  const [bytesWritten, destroy] = [writableLength, vi.fn()];
  return { remoteAddress, writableLength, bytesWritten, destroy } as unknown as ReturnType<typeof unread>;
}

test('of too much that lies unread that of the address that leaves most goes, not the one large answer of another', () => {
  vi.useFakeTimers();
  const many = Array.from({ length: 1_400 }, () => unread('192.0.2.1', 100_000));
  const one = unread('192.0.2.2', 3_000_000);
  const answers = new UnreadAnswers(() => [one, ...many], 30_000);
  vi.advanceTimersByTime(1_000);
  answers.end();
  expect(one.destroy).not.toHaveBeenCalled();
  // 143 MB, of which 134 are allowed.
  const ended = many.filter(({ destroy }) => destroy.mock.calls.length > 0).length;
  expect(ended).toBe(88);
});

test('one large write has as much longer as it is longer', () => {
  vi.useFakeTimers();
  const [short, long] = [unread('192.0.2.1', 1_000), unread('192.0.2.2', 1_000_000)];
  const answers = new UnreadAnswers(() => [short, long], 30_000);
  vi.advanceTimersByTime(32_000);
  expect([short, long].map(({ destroy }) => destroy.mock.calls.length > 0)).toEqual([true, false]);
  vi.advanceTimersByTime(100_000);
  expect(long.destroy).toHaveBeenCalled();
  answers.end();
});
