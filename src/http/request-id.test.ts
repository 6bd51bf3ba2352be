import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { makeRequestId } from './request-id.ts';

const makeIds = (count: number): string[] =>
  Array.from({ length: count }, () => makeRequestId({ headers: {} } as IncomingMessage));

test('an id is of one request, and nobody can tell from two of them how many came in between', () => {
  const ids = makeIds(5_000);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[\w-]{16}$/);
  // No part of it is the same for all, or counts.
  for (let at = 0; at < 16; at += 4) {
    const parts = ids.map((id) => id.slice(at, at + 4));
    expect(new Set(parts).size).toBeGreaterThan(4_900);
    const rising = parts.filter((part, index) => index > 0 && part > parts[index - 1]!);
    expect(Math.abs(rising.length / ids.length - 0.5)).toBeLessThan(0.05);
  }
});

test('what the sender calls its request is kept, when it is fit to be', () => {
  const named = (id: string): string =>
    makeRequestId({ headers: { 'x-request-id': id } as IncomingMessage['headers'] } as IncomingMessage);
  expect(named('my.request:7')).toBe('my.request:7');
  expect(named('not <fit>')).toMatch(/^[\w-]{16}$/);
});
