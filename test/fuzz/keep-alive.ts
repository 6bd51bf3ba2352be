import { Agent, request } from 'node:http';

/** An HTTP client that keeps its connections: `fetch` takes longer to ask than the server to answer. */
export class KeepAlive {
  readonly #url: string;
  readonly #agent: Agent;

  constructor(url: string, connections: number) {
    this.#url = url;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Status line and body of the answer; rejects when there is none within `withinMs`. */
  send(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: string | null,
    withinMs: number,
  ): Promise<string> {
    return new Promise((resolve, reject) => {
      // Writes the path as a browser would.
      const target = new URL(this.#url + path);
      const asking = request(target, { method, headers, agent: this.#agent }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.on('error', reject);
        answer.on('end', () => {
          clearTimeout(timer);
          resolve(`HTTP/1.1 ${answer.statusCode} ${Buffer.concat(parts).toString()}`);
        });
      });
      const timer = setTimeout(() => asking.destroy(new Error('no answer')), withinMs);
      asking.on('error', (error) => {
        clearTimeout(timer);
        reject(error);
      });
      asking.end(body ?? undefined);
    });
  }

  end(): void {
    this.#agent.destroy();
  }
}
