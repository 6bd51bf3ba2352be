import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readBody } from './body.ts';
import { BodyMemory } from './body-memory.ts';

test('a body that cannot be counted fails its own request, and nothing else', async () => {
  const memory = new BodyMemory(() => {
    throw new RangeError('of a header nobody thought of');
  });
  const request = Object.assign(new PassThrough(), { headers: {}, socket: {} }) as unknown as IncomingMessage;
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
    const request = Object.assign(new PassThrough(), { headers: { 'content-encoding': 'gzip' }, socket: {} });
    const reading = readBody(request as unknown as IncomingMessage, bounds, { tenant, tokenId: tenant });
    request.end(packed);
    expect(await reading).toHaveLength(1 << 20);
    memory.release(request as unknown as IncomingMessage);
    order.push(tenant);
  };
  await Promise.all([...Array.from({ length: 100 }, () => read('crowd')), read('one')]);
  expect(order.indexOf('one')).toBeLessThan(30);
});

test('of who goes while a packed body waits to be unpacked nothing stays counted', async () => {
  const memory = new BodyMemory(() => 'somebody');
  let [begun, ended] = [0, 0];
  const server = createServer((request, response) => {
    response.on('close', () => memory.release(request));
    begun += 1;
    void readBody(request, { maxBytes: 1 << 20, idleMs: 1_000, memory })
      .catch(() => {})
      .finally(() => (ended += 1));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const packed = gzipSync(Buffer.alloc(1 << 20));
  const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n`;
  const sockets = Array.from({ length: 60 }, () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => {}).write(Buffer.concat([Buffer.from(head), packed]));
    return socket;
  });
  await expect.poll(() => begun, { interval: 1 }).toBeGreaterThan(50);
  for (const socket of sockets) socket.resetAndDestroy();
  await expect.poll(() => begun - ended).toBe(0);
  await expect.poll(() => new Promise((resolve) => server.getConnections((_, count) => resolve(count)))).toBe(0);
  expect(memory.bytes).toBe(0);
  server.close();
});

test('of a body that stopped coming nothing stays counted, whatever comes behind its answer', async () => {
  const memory = new BodyMemory(() => 'somebody');
  const server = createServer((request, response) => {
    response.on('close', () => memory.release(request));
    readBody(request, { maxBytes: 1 << 20, idleMs: 50, memory }).catch(() => response.writeHead(408).end());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n${' '.repeat(400_000)}`);
  await new Promise((resolve) => socket.once('data', resolve));
  socket.write(' ');
  await new Promise((resolve) => socket.once('close', resolve));
  expect(memory.bytes).toBe(0);
  server.close();
});
