import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { SocketSession } from '../../src/graphql/transport/socket-session.ts';

let server: WebSocketServer;
let client: WebSocket;
let session: SocketSession;

/** A client, and the server's end of its socket as a session. */
async function connect(options: { autoPong?: boolean } = {}): Promise<void> {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, options);
  const [socket] = (await accepted) as [WebSocket];
  session = new SocketSession(socket, Date.now, 'request');
  if (client.readyState !== client.OPEN) await once(client, 'open');
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
  client.terminate();
  server.close();
});

test('who answers pings stays connected, who does not is gone at the next one', async () => {
  await connect();
  for (let minute = 0; minute < 4; minute += 1) {
    const pinged = once(client, 'ping');
    const answered = once(session.socket, 'pong');
    vi.advanceTimersByTime(15_000);
    await pinged;
    await answered;
  }
  expect(session.socket.readyState).toBe(WebSocket.OPEN);
  client.terminate();
  server.close();

  await connect({ autoPong: false });
  const pinged = once(client, 'ping');
  vi.advanceTimersByTime(15_000);
  await pinged;
  expect(session.socket.readyState).toBe(WebSocket.OPEN);
  const closed = once(session.socket, 'close');
  vi.advanceTimersByTime(15_000);
  await closed;
});

test('what may wait for a reader that reads nothing is bounded', async () => {
  await connect();
  client.pause();
  const closed = once(session.socket, 'close');
  let most = 0;
  for (let at = 0; at < 100 && !session.ending; at += 1) {
    session.send('x'.repeat(1_000_000)).catch(() => {});
    most = Math.max(most, session.socket.bufferedAmount);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(session.ending).toBe(true);
  expect(most).toBeLessThan(19_000_000);
  await closed;
});
