import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect, test, vi } from 'vitest';
import type { WebSocket } from 'ws';
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
