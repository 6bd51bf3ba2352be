import { connect, type Socket } from 'node:net';

/** Gives the next request of one connection as raw HTTP bytes; the buffer may be reused by the next call. */
export type NextRequest = (connection: number, sequence: number) => Buffer;

export interface LoadOptions {
  port: number;
  connections: number;
  seconds: number;
  next: NextRequest;
  /** Requests per second over all connections; left out: as fast as answers come. */
  rate?: number;
  /** Maximum requests over all connections. */
  requests?: number;
}

export interface LoadResult {
  requests: number;
  /** Answers other than 200. */
  failed: number;
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Of requests and answers. */
  bytes: number;
}

/**
 * A load generator on bare sockets, one request in flight on each, so cheap that the server is what is measured. With
 * a rate, latency counts from when a request was due, not from when it could be sent.
 */
export async function generateLoad(options: LoadOptions): Promise<LoadResult> {
  const { connections, seconds, rate, requests = Infinity } = options;
  const latencies: number[] = [];
  let failed = 0;
  let bytes = 0;
  let sent = 0;
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(options.port)));
  const started = performance.now();
  const end = started + seconds * 1000;
  const everyMs = rate === undefined ? 0 : (1000 * connections) / rate;
  await Promise.all(
    sockets.map(async (socket, connection) => {
      const reader = new AnswerReader(socket);
      let due = started + (everyMs * connection) / connections;
      for (let sequence = 0; sent < requests && performance.now() < end; sequence += 1) {
        sent += 1;
        if (everyMs > 0) {
          const wait = due - performance.now();
          if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait));
        } else due = performance.now();
        socket.write(options.next(connection, sequence));
        const status = await reader.next();
        latencies.push(performance.now() - due);
        if (status !== 200) failed += 1;
        due += everyMs;
      }
      bytes += socket.bytesWritten + socket.bytesRead;
      socket.destroy();
    }),
  );
  const elapsed = (performance.now() - started) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (part: number): number => Math.round((latencies[Math.floor(latencies.length * part)] ?? 0) * 100) / 100;
  return {
    requests: latencies.length,
    failed,
    requestsPerSecond: Math.round(latencies.length / elapsed),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    bytes,
  };
}

/** Raw bytes of a POST; `headers` without the length. */
export function postRequest(path: string, headers: string[], body: string): Buffer {
  const length = Buffer.byteLength(body);
  return Buffer.from(
    [`POST ${path} HTTP/1.1`, 'Host: localhost', ...headers, `Content-Length: ${length}`, '', body].join('\r\n'),
  );
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket));
    socket.setNoDelay(true);
    socket.on('error', reject);
  });
}

/** Reads answers with a Content-Length; a closed connection counts as status 0. */
class AnswerReader {
  #waiting: ((status: number) => void) | null = null;
  #text = '';

  constructor(socket: Socket) {
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      this.#text += chunk;
      this.#read();
    });
    socket.on('close', () => this.#waiting?.(0));
    socket.on('error', () => this.#waiting?.(0));
  }

  next(): Promise<number> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  #read(): void {
    const headEnd = this.#text.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const at = this.#text.search(/content-length: /i);
    const length = at < 0 || at > headEnd ? 0 : Number.parseInt(this.#text.slice(at + 16, at + 26), 10);
    if (this.#text.length < headEnd + 4 + length) return;
    const status = Number(this.#text.slice(9, 12));
    this.#text = this.#text.slice(headEnd + 4 + length);
    const resolve = this.#waiting;
    this.#waiting = null;
    resolve?.(status);
  }
}
