import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/** `http/body-memory`: what senders may keep in memory all together; who must give way is told so. */
export interface BodyMemory {
  hold: (owner: object, bytes: number, giveUp: () => void) => void;
  release: (owner: object) => void;
}

/** A beginning up to this size is not counted. */
const SMALL_BYTES = 16_384;
/** Of a client's ping or pong beside its data. */
const CONTROL_BYTES = 6;

/** Counts what has come of a message that is not complete; `wire` is what the WebSocket reads from. */
export function countHalfMessages(socket: WebSocket, wire: Duplex, memory: BodyMemory): void {
  let bytes = 0;
  // Before the WebSocket sees it: whole messages in it set the count back.
  wire.prependListener('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > SMALL_BYTES) memory.hold(socket, bytes, () => socket.terminate());
  });
  const control = (data: Buffer): void => {
    bytes = Math.max(0, bytes - data.length - CONTROL_BYTES);
  };
  socket.on('ping', control);
  socket.on('pong', control);
  socket.on('message', () => {
    bytes = 0;
    memory.release(socket);
  });
  socket.once('close', () => memory.release(socket));
}
