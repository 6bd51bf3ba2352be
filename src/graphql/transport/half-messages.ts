import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';

/** `http/body-memory`: bounds the memory of all senders; calls `giveUp` where one must give way. */
export interface BodyMemory {
  hold: (request: IncomingMessage, bytes: number, giveUp: () => void) => void;
  release: (request: IncomingMessage) => void;
}

/** Maximum bytes of a beginning that is not counted. */
const SMALL_BYTES = 16_384;
/** Bytes of a client's ping or pong beside its data. */
const CONTROL_BYTES = 6;

/**
 * Counts the bytes of a message until it was read, which the caller says by calling the returned function; `request` is
 * the one that became the WebSocket. `onFailed`: it could not be counted.
 */
export function countHalfMessages(
  socket: WebSocket,
  request: IncomingMessage,
  memory: BodyMemory,
  onFailed: (error: unknown) => void,
): () => void {
  let bytes = 0;
  // Counted before the WebSocket sees it: whole messages in it set the count back.
  request.socket.prependListener('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= SMALL_BYTES) return;
    try {
      memory.hold(request, bytes, () => socket.terminate());
    } catch (error) {
      // An error thrown here would end the process.
      onFailed(error);
    }
  });
  const control = (data: Buffer): void => {
    // Between the frames of a message: those keep the whole pieces in memory that they came in, with all that is beside them.
    if (!isHalf(socket)) bytes = Math.max(0, bytes - data.length - CONTROL_BYTES);
  };
  socket.on('ping', control);
  socket.on('pong', control);
  socket.on('message', () => {
    bytes = 0;
  });
  socket.once('close', () => memory.release(request));
  return () => {
    if (bytes <= SMALL_BYTES) memory.release(request);
  };
}

/** Whether a message has begun. Only the receiver under the WebSocket knows. */
function isHalf(socket: WebSocket): boolean {
  const { _fragmented: begun } = Reflect.get(socket, '_receiver') as { _fragmented: number };
  return begun !== 0;
}
