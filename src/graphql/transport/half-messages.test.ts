import { EventEmitter, once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { countHalfMessages } from './half-messages.ts';

test('a beginning that cannot be counted fails its own connection, and nothing else', () => {
  const connection = new EventEmitter();
  const failed = vi.fn();
  const error = new RangeError('of a header nobody thought of');
  const hold = (): void => {
    throw error;
  };
  const request = { socket: connection } as unknown as IncomingMessage;
  countHalfMessages(new EventEmitter() as WebSocket, request, { hold, release: () => {} }, failed);
  connection.emit('data', Buffer.alloc(60_000));
  expect(failed).toHaveBeenCalledExactlyOnceWith(error);
});

test.each([
  ['between the frames of a message are counted with them, as all stays in memory', true],
  ['alone are not', false],
])('pongs %s', async (_, isHalf) => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, allowSynchronousEvents: false });
  onTestFinished(() => server.close());
  await once(server, 'listening');
  let [most, pongs] = [0, 0];
  const hold = (_request: IncomingMessage, bytes: number): void => void (most = Math.max(most, bytes));
  server.on('connection', (socket, request) => {
    socket.on('pong', () => (pongs += 1));
    countHalfMessages(socket, request, { hold, release: () => {} }, () => {});
  });
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => socket.terminate());
  await once(socket, 'open');
  for (let at = 0; at < 10_000; at += 1) {
    if (isHalf && at % 500 === 0) socket.send(' ', { fin: false });
    socket.pong(Buffer.alloc(125));
  }
  await expect.poll(() => pongs).toBe(10_000);
  if (isHalf) expect(most).toBeGreaterThan(1_200_000);
  else expect(most).toBeLessThan(200_000);
});
