import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, onTestFinished, test, type TestContext, vi } from 'vitest';
import { ClientConnections } from './client-connections.ts';
import { createHttpServer } from './http-server.ts';
import { keepOwnTime } from './own-time.ts';

/** Sends five bytes to a server at which a whole request has a second; returns what becomes of them. */
async function send(
  { onTestFinished: atEnd }: TestContext,
  keeps: boolean,
  everyMs: number,
): Promise<{ said: string; isLate: boolean }> {
  const server = createHttpServer({
    clients: new ClientConnections({ most: 0, trustedProxies: 0 }),
    isQuiet: () => true,
    endBehindAnswers: () => true,
  });
  server.headersTimeout = server.requestTimeout = 1_000;
  const outcome = { said: '', isLate: false };
  server.on('request', (request, response) => {
    if (keeps) keepOwnTime(request, 3_000, () => (outcome.isLate = true));
    request.resume().on('end', () => response.end('whole'));
  });
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  socket.on('data', (data) => (outcome.said += data.toString()));
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n');
  let left = 5;
  const sending = setInterval(() => (left -= 1) >= 0 && socket.write('x'), everyMs);
  atEnd(() => clearInterval(sending));
  await Promise.race([once(socket, 'close'), once(socket, 'data')]);
  return outcome;
}

// Concurrent: these tests only wait.
describe.concurrent('of a body that comes slowly', () => {
  test('a body that keeps its own time is not ended by that of a whole request', async (context) => {
    expect((await send(context, true, 800)).said).toMatch(/^HTTP\/1\.1 200 [\s\S]*whole$/);
  });

  test('any other one is', async (context) => {
    expect((await send(context, false, 800)).said).toMatch(/^HTTP\/1\.1 408 /);
  });

  test('one that stops coming is late, and its connection ends', async (context) => {
    expect(await send(context, true, 1e9)).toMatchObject({ said: '', isLate: true });
  });
});

test.each([
  [1, 300],
  [2_000, Infinity],
])('one that comes at %i bytes a second is late after %d seconds', (bytes, seconds) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const socket = { bytesRead: 0, destroyed: false };
  const request = { socket, complete: false, readableFlowing: true, destroy: () => {} };
  let lateAt = Infinity;
  let now = 0;
  keepOwnTime(request as unknown as IncomingMessage, 30_000, () => (lateAt = Math.min(lateAt, now)));
  for (; now < 2_000; now += 1) {
    socket.bytesRead += bytes;
    vi.advanceTimersByTime(1_000);
  }
  expect(lateAt).toBe(seconds);
});
