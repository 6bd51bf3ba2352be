import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What a connection is busy with: the last of its requests, and how many wait for their answers. */
interface Connection {
  open: number;
  request: IncomingMessage | null;
  response: ServerResponse | null;
}

/**
 * The requests that have not been answered yet, kept by connection: a set that takes up and lets go every request keeps
 * requests alive through its own outgrown tables, so that they are promoted and collected dearly (measured: a quarter of
 * the requests/s, and p99 of 24 instead of 11 ms).
 */
export class OpenRequests {
  readonly #connections = new Map<Socket, Connection>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** A new connection; forgotten when it closes. */
  connected(socket: Socket): void {
    this.#connections.set(socket, { open: 0, request: null, response: null });
    socket.once('close', () => this.#connections.delete(socket));
  }

  add(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#connections.get(request.socket);
    if (connection === undefined) return;
    this.#count += 1;
    connection.open += 1;
    connection.request = request;
    connection.response = response;
    response.once('close', () => {
      this.#count -= 1;
      connection.open -= 1;
      if (connection.open > 0) return;
      connection.request = null;
      connection.response = null;
    });
  }

  /** Those whose body has not come in full: only the last one of a connection can be such. */
  *incomplete(): Generator<{ request: IncomingMessage; response: ServerResponse }> {
    for (const { request, response } of this.#connections.values())
      if (request !== null && response !== null && !request.complete) yield { request, response };
  }

  /** From now on each connection is closed by its last answer. */
  closeAfterAnswers(): void {
    for (const { response } of this.#connections.values()) if (response !== null) response.shouldKeepAlive = false;
  }
}
