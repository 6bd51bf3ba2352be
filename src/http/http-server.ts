import { createServer, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { addressGroup } from './address-group.ts';

/** How long a client may leave an answer unread, or a new connection silent. */
const IDLE_MS = 20_000;
/** Requests of one connection that wait for the one before them; then its socket is read no further. */
const MAX_WAITING = 16;
const TOO_MANY =
  'HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nRetry-After: 5\r\nConnection: close\r\n' +
  'Content-Length: 45\r\n\r\nToo many connections from this address; wait.';

interface Line {
  answering: boolean;
  waiting: (() => void)[];
}

interface HttpServerOptions {
  /** Connections that one address may hold; 0: any number. */
  connectionsPerAddress: number;
}

/**
 * A server that no single client can fill: the requests of one connection wait for each other, an answer that nobody
 * reads ends its connection, one address holds a bounded number of them. Upgrades to anything but WebSocket (Java's
 * default client asks for h2c) are ignored and the request is answered.
 */
export function createHttpServer({ connectionsPerAddress }: HttpServerOptions): {
  server: Server;
  /** The listener with the requests of each connection one after the other. */
  inTurn: (listener: RequestListener) => RequestListener;
} {
  const server = createServer({
    connectionsCheckingInterval: 2_000,
    headersTimeout: 10_000,
    // A slow line may take minutes; a body that stops coming ends earlier (http/body.ts).
    requestTimeout: 300_000,
    // Longer than proxies keep theirs: else they send a request into a connection that is just being closed.
    keepAliveTimeout: 75_000,
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
  });
  const lines = new WeakMap<Socket, Line>();
  server.setTimeout(IDLE_MS, (socket: Socket) => {
    // Who waits for an answer may wait; who does not take it may not. Node does not tell progress from silence here:
    // the timer starts anew with every byte that leaves.
    if (lines.get(socket)?.answering === true && socket.writableLength === 0) return;
    socket.destroy();
  });
  if (connectionsPerAddress > 0) boundConnections(server, connectionsPerAddress);
  return { server, inTurn: (listener) => inTurn(lines, listener) };
}

function inTurn(lines: WeakMap<Socket, Line>, listener: RequestListener): RequestListener {
  return (request, response) => {
    const { socket } = request;
    let line = lines.get(socket);
    if (line === undefined) {
      line = { answering: false, waiting: [] };
      lines.set(socket, line);
    }
    const { waiting } = line;
    const next = (): void => {
      const following = waiting.shift();
      line.answering = following !== undefined;
      if (waiting.length === MAX_WAITING - 1) socket.resume();
      following?.();
    };
    const begin = (): void => {
      response.once('close', next);
      listener(request, response);
    };
    if (!line.answering) {
      line.answering = true;
      begin();
      return;
    }
    waiting.push(begin);
    if (waiting.length === MAX_WAITING) socket.pause();
  };
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
    // Said in words, but never waited for.
    if (count > most) socket.end(TOO_MANY, () => socket.destroy());
  });
}
