import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { AppError } from '../errors.ts';
import { respondWithProblem, toProblem } from './error-responder.ts';

const LOOK_EVERY_MS = 20;
const HEALTH = /^\/(?:healthz|readyz)\/?(?:\?|$)/;

/** What a draining server says to new requests: 503, come back elsewhere (CONTRACT 3). Health is still told. */
export function refuseWhileDraining(listener: RequestListener, log: Logger): RequestListener {
  const problem = toProblem(new AppError('UNAVAILABLE', 'The server is stopping; send this again in a moment.'), log);
  return (request, response) => {
    response.shouldKeepAlive = false;
    if (HEALTH.test(request.url ?? '')) {
      listener(request, response);
      return;
    }
    respondWithProblem(response, problem, { stored: 0, rejected: [] });
    request.resume();
  };
}

/**
 * Resolves when every connection that is open now has been answered and closed. Until then the server goes on
 * listening, so that newcomers are refused in words; they do not prolong the wait. `endSockets` ends the WebSockets.
 */
export async function drain(server: Server, endSockets: () => Promise<void>): Promise<void> {
  const late = new Set<Socket>();
  server.on('connection', (socket) => {
    late.add(socket);
    socket.once('close', () => late.delete(socket));
  });
  await endSockets();
  for (;;) {
    // A kept-alive connection that becomes idle would hold us for its whole keep-alive time.
    server.closeIdleConnections();
    if ((await connectionsOf(server)) <= late.size) break;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );
}
