import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

const LOOK_EVERY_MS = 1_000;
/** Looks before a body must come at a minimum rate, and bytes per further look: else a byte now and then is enough. */
const [FREE_LOOKS, BYTES_A_LOOK] = [300, 1_000];
/** Milliseconds until a late body has been answered. */
const ANSWER_MS = 1_000;

/** The request whose body keeps its own time, by connection. */
const kept = new WeakMap<Socket, IncomingMessage>();

/** Whether Node's time-out of the whole request is to be ignored. */
export function keepsOwnTime(socket: Socket): boolean {
  return kept.get(socket)?.complete === false;
}

/**
 * Lets a body take as long as it needs (a large file on a slow line), but calls `late` when nothing of it came for
 * `idleMs`, and ends its connection. A body held back here is not looked at; looks are counted, not time.
 */
export function keepOwnTime(request: IncomingMessage, idleMs: number, late: () => void): void {
  const { socket } = request;
  const begin = socket.bytesRead;
  let [looks, idle, read] = [0, 0, begin];
  kept.set(socket, request);
  const timer = setInterval(() => {
    if (request.complete || socket.destroyed) return clearInterval(timer);
    if (request.readableFlowing !== true) return;
    looks += 1;
    idle = socket.bytesRead > read ? 0 : idle + 1;
    read = socket.bytesRead;
    if (idle * LOOK_EVERY_MS < idleMs && read - begin >= (looks - FREE_LOOKS) * BYTES_A_LOOK) return;
    clearInterval(timer);
    late();
    setTimeout(() => request.destroy(), ANSWER_MS).unref();
  }, LOOK_EVERY_MS).unref();
}
