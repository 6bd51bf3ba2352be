import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readBody } from './body.ts';
import { BodyMemory } from './body-memory.ts';

test('a body that cannot be counted fails its own request, and nothing else', async () => {
  const memory = new BodyMemory(() => {
    throw new RangeError('of a header nobody thought of');
  });
  const request = Object.assign(new PassThrough(), { headers: {} }) as unknown as IncomingMessage;
  const reading = readBody(request, { maxBytes: 1 << 20, idleMs: 1_000, memory });
  // Throws what a listener throws.
  (request as unknown as PassThrough).write(Buffer.alloc(60_000));
  await expect(reading).rejects.toThrow('of a header nobody thought of');
});

test('who sends one packed body does not wait for the hundred of another', async () => {
  const memory = new BodyMemory(() => 'here');
  const bounds = { maxBytes: 1 << 20, idleMs: 10_000, memory };
  const packed = gzipSync(Buffer.alloc(1 << 20));
  const order: string[] = [];
  const read = async (tenant: string): Promise<void> => {
    const request = Object.assign(new PassThrough(), { headers: { 'content-encoding': 'gzip' } });
    const reading = readBody(request as unknown as IncomingMessage, bounds, { tenant, tokenId: tenant });
    request.end(packed);
    expect(await reading).toHaveLength(1 << 20);
    memory.release(request as unknown as IncomingMessage);
    order.push(tenant);
  };
  await Promise.all([...Array.from({ length: 100 }, () => read('crowd')), read('one')]);
  expect(order.indexOf('one')).toBeLessThan(30);
});
