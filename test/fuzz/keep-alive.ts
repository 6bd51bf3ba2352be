import { Agent, request } from 'node:http';

/** An HTTP client that keeps its connections: `fetch` takes longer to ask than the server to answer. */
export class KeepAlive {
  readonly #host: string;
  readonly #port: number;
  readonly #agent: Agent;

  constructor(url: string, connections: number) {
    const { hostname, port } = new URL(url);
    this.#host = hostname;
    this.#port = Number(port);
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Status line and body of the answer; rejects when it is told not to wait any longer. The path is sent as it is. */
  send(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: string | Buffer | null,
    limit: AbortSignal,
  ): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { host: this.#host, port: this.#port, path, method, headers, agent: this.#agent };
      const asking = request(options, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', failed);
        answer.on('end', () => {
          limit.removeEventListener('abort', late);
          resolve(`HTTP/1.1 ${answer.statusCode} ${Buffer.concat(parts).toString()}`);
        });
      });
      const late = (): void => void asking.destroy(new Error('no answer'));
      const failed = (error: Error): void => {
        limit.removeEventListener('abort', late);
        reject(error);
      };
      limit.addEventListener('abort', late, { once: true });
      asking.on('error', failed);
      asking.end(body ?? undefined);
    });
  }

  end(): void {
    this.#agent.destroy();
  }
}
