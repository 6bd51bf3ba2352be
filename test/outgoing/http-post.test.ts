import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HttpPost } from '../../src/transmission/http-post.ts';
import { Receiver } from '../support/receiver.ts';

let receiver: Receiver;
const posts: HttpPost[] = [];

beforeAll(async () => {
  receiver = await Receiver.start();
});
afterAll(() => {
  receiver?.stop();
  for (const each of posts) each.stop();
});

/** `addresses`: what the host has at each look-up. */
function posting(addresses: string[][], allowed: string[] = []): HttpPost {
  let at = 0;
  const addressesOf = async (): Promise<string[]> => addresses[Math.min(at++, addresses.length - 1)]!;
  const post = new HttpPost({ allowPrivateNetworks: false, allowedHosts: new Set(allowed), addressesOf });
  posts.push(post);
  return post;
}

const send = (post: HttpPost, host: string) =>
  post.post({ url: receiver.url.replace('127.0.0.1', host), headers: {}, body: '{}' });

test('a call goes to the address that was judged, and every call is judged anew', async () => {
  const before = receiver.received.length;
  const post = posting([['127.0.0.1'], ['127.0.0.1'], ['127.0.0.1', '10.0.0.1']], ['hook.example']);
  expect(await send(post, 'hook.example')).toMatchObject({ isDone: true, httpStatus: 204 });
  expect(receiver.received.at(-1)!.headers['host']).toContain('hook.example');
  const strict = posting([['127.0.0.1']]);
  expect(await send(strict, 'hook.example')).toMatchObject({
    isDone: false,
    httpStatus: null,
    error: expect.stringContaining('hook.example (127.0.0.1) is a loopback'),
  });
  expect(receiver.received).toHaveLength(before + 1);
});

test('nothing is unpacked, and no more than 4 kB is read', async () => {
  const post = posting([['127.0.0.1']], ['hook.example']);
  const bomb = gzipSync(Buffer.alloc(10_000_000));
  receiver.answer = (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
  expect(await send(post, 'hook.example')).toMatchObject({ isDone: true, answer: '(gzip, not unpacked)' });
  let isClosed = false;
  receiver.answer = (response) => {
    response.on('close', () => (isClosed = true));
    const more = (): unknown => response.destroyed || (response.write('x'.repeat(1_000)), setImmediate(more));
    more();
  };
  expect((await send(post, 'hook.example')).answer).toHaveLength(4_096);
  await expect.poll(() => isClosed).toBe(true);
  receiver.answer = (response) => response.writeHead(204).end();
});

test('Retry-After counts in seconds and as a date', async () => {
  const post = posting([['127.0.0.1']], ['hook.example']);
  receiver.answer = (response) => response.writeHead(503, { 'retry-after': '120' }).end();
  expect(await send(post, 'hook.example')).toMatchObject({ httpStatus: 503, retryAfterMs: 120_000 });
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  receiver.answer = (response) => response.writeHead(429, { 'retry-after': date }).end();
  const { retryAfterMs } = await send(post, 'hook.example');
  expect(Math.round(retryAfterMs! / 600_000)).toBe(6);
  receiver.answer = (response) => response.writeHead(503, { 'retry-after': 'soon' }).end();
  expect(await send(post, 'hook.example')).toMatchObject({ retryAfterMs: null });
  receiver.answer = (response) => response.writeHead(204).end();
});

test('a connection that the receiver has closed meanwhile is no failure', async () => {
  let connections = 0;
  // Answers one request on each connection, promises to keep it, and closes it with the next.
  const server = createServer((socket) => {
    connections += 1;
    let requests = 0;
    socket.on('error', () => {});
    socket.on('data', () => {
      requests += 1;
      if (requests === 1) socket.write('HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n');
      else socket.resetAndDestroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const post = posting([['127.0.0.1']], ['hook.example']);
  const request = { url: `http://hook.example:${port}/`, headers: {}, body: '{}' };
  expect(await post.post(request)).toMatchObject({ isDone: true });
  await new Promise((resolve) => setImmediate(resolve));
  expect(await post.post(request)).toMatchObject({ isDone: true, error: null });
  expect(connections).toBe(2);
  server.close();
});

test('a receiver that is not there, or speaks something else, is a failure that says so', async () => {
  const post = posting([['127.0.0.1']], ['hook.example']);
  expect(await post.post({ url: 'http://hook.example:9/', headers: {}, body: '{}' })).toMatchObject({
    isDone: false,
    error: expect.stringContaining('ECONNREFUSED'),
  });
  expect(
    await post.post({ url: receiver.url.replace('http://127.0.0.1', 'https://hook.example'), headers: {}, body: '{}' }),
  ).toMatchObject({
    isDone: false,
    httpStatus: null,
    error: expect.stringMatching(/SSL|wrong version|EPROTO/i),
  });
});
