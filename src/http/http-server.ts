import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { addressGroup } from './address-group.ts';
import { answerBroken, type ParserError, TIMED_OUT, TUNNEL } from './broken-request.ts';
import type { ClientConnections } from './client-connections.ts';
import { keepsOwnTime } from './own-time.ts';

const TOO_MANY =
  'HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nRetry-After: 5\r\nConnection: close\r\n' +
  'Content-Length: 45\r\n\r\nToo many connections from this address; wait.';
/** Maximum late connections answered per turn of the event loop: Node reports thousands in one piece. */
const LATE_AT_ONCE = 10;

interface HttpServerOptions {
  clients: ClientConnections;
  /** Whether all requests of a connection have been answered. */
  isQuiet: (socket: Socket) => boolean;
  /** Ends a connection behind the answers to its whole requests; false: one of them is half, and its answer not begun. */
  endBehindAnswers: (socket: Socket) => boolean;
}

/**
 * A server that no single client can fill: heads come in time, one address holds a bounded number of connections.
 * Upgrades to anything but WebSocket (Java's default client asks for h2c) are ignored and the request is answered. So
 * are those behind a request that has no answer yet: Node would hand the connection over at once, and that answer come
 * into the midst of frames, or never. Bytes that are no request are refused in words, but not in the place of an
 * answer: behind a whole request modems send a NUL or Ctrl-Z too many, and Node's own 400 would deny a request that is
 * being stored.
 */
export function createHttpServer({ clients, isQuiet, endBehindAnswers }: HttpServerOptions): Server {
  const server = createServer({
    connectionsCheckingInterval: 2_000,
    // http-app.ts says so in words.
    requireHostHeader: false,
    headersTimeout: 10_000,
    // A slow line may take minutes; a body that stops coming ends earlier (http/body.ts), a file later (own-time.ts).
    requestTimeout: 300_000,
    // Longer than proxies keep theirs: else they send a request into a connection that is just being closed.
    keepAliveTimeout: 75_000,
    shouldUpgradeCallback: (request) => {
      const { headers, socket } = request;
      if (headers.upgrade?.toLowerCase() !== 'websocket' || !isQuiet(socket) || !clients.begin(request)) return false;
      socket.once('close', () => clients.end(request));
      return true;
    },
  });
  const end = (socket: Socket, error: ParserError): void => {
    if (!socket.writable) socket.destroy();
    else if (isQuiet(socket) || !endBehindAnswers(socket)) answerBroken(socket, error);
  };
  const late: (() => void)[] = [];
  const endLate = (): void => {
    for (const end of late.splice(0, LATE_AT_ONCE)) end();
    if (late.length > 0) setImmediate(endLate);
  };
  server.on('clientError', (error: ParserError, socket: Socket) => {
    if (error.code !== TIMED_OUT) end(socket, error);
    else if (!keepsOwnTime(socket) && late.push(() => end(socket, error)) === 1) setImmediate(endLate);
  });
  // Node would take away an answer that still waits for its reader.
  server.on('connect', (_, socket: Socket) => (isQuiet(socket) ? answerBroken(socket, TUNNEL) : socket.destroy()));
  if (clients.mostOfPeer > 0) boundConnections(server, clients.mostOfPeer);
  return server;
}

function boundConnections(server: Server, most: number): void {
  const held = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = addressGroup(socket.remoteAddress);
    const count = (held.get(address) ?? 0) + 1;
    held.set(address, count);
    socket.once('close', () => {
      const left = (held.get(address) ?? 1) - 1;
      if (left > 0) held.set(address, left);
      else held.delete(address);
    });
    // Refused in words, but never waited for.
    if (count > most) socket.end(TOO_MANY, () => socket.destroy());
  });
}
