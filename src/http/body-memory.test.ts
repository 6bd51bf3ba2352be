import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { BodyMemory } from './body-memory.ts';

const MB = 1 << 20;

/** A request as far as the memory knows it: its address. */
const from = (address: string): IncomingMessage => ({ address }) as unknown as IncomingMessage;
const memoryOf = (): BodyMemory => new BodyMemory((request) => (request as unknown as { address: string }).address);

/** Holds bodies of a megabyte from the address, each in full, until one is refused. */
function kept(memory: BodyMemory, address: string): IncomingMessage[] {
  const requests: IncomingMessage[] = [];
  for (;;) {
    const request = from(address);
    try {
      memory.keep(request, MB);
    } catch (error) {
      expect(error).toMatchObject({ code: 'OVERLOADED' });
      return requests;
    }
    requests.push(request);
  }
}

test('an address alone fills three quarters, a second one those of what is left; released, they are free again', () => {
  const memory = memoryOf();
  const first = kept(memory, 'first');
  expect(first).toHaveLength(96);
  expect(kept(memory, 'second')).toHaveLength(24);
  for (const request of first) memory.release(request);
  expect(memory.bytes).toBe(24 * MB);
});

test('who needs room gets it from the address that takes most, not from others', () => {
  const memory = memoryOf();
  const gone: string[] = [];
  const hold = (address: string, name: string, bytes: number): void =>
    memory.hold(from(address), bytes, () => gone.push(name));
  hold('small', 'small', 2 * MB);
  for (let at = 0; at < 90; at += 1) hold('large', `large ${at}`, MB);
  for (let at = 0; at < 60; at += 1) memory.keep(from(`other ${at}`), MB);
  expect(gone.length).toBeGreaterThan(0);
  expect(gone[0]).toBe('large 0');
  expect(gone).not.toContain('small');
});
