import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { HeavyTurns } from '../domain/heavy-turns.ts';
import { readBody } from './body.ts';
import { BodyMemory } from './body-memory.ts';

test('a body that cannot be counted fails its own request, and nothing else', async () => {
  const memory = new BodyMemory(() => {
    throw new RangeError('of a header nobody thought of');
  });
  const request = Object.assign(new PassThrough(), { headers: {} }) as unknown as IncomingMessage;
  const reading = readBody(request, { maxBytes: 1 << 20, idleMs: 1_000, memory, turns: new HeavyTurns() });
  // Throws what a listener throws.
  (request as unknown as PassThrough).write(Buffer.alloc(60_000));
  await expect(reading).rejects.toThrow('of a header nobody thought of');
});
