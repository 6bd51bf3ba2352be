import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A request that came to a receiver. */
interface Received {
  headers: Record<string, string>;
  body: string;
}

type Answer = (response: ServerResponse, received: Received) => unknown;

/** A receiver of outgoing calls on this machine; answers 204 unless it is told otherwise. */
export class Receiver {
  readonly received: Received[] = [];
  answer: Answer = (response) => response.writeHead(204).end();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#receive(request, response);
    });
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const received = { headers: request.headers as Record<string, string>, body: await text(request) };
    this.received.push(received);
    this.answer(response, received);
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** The bodies of what came, parsed. */
  get bodies(): { type: string; timestamp: string; data: Record<string, unknown> }[] {
    return this.received.map(({ body }) => JSON.parse(body));
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
