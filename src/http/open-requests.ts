import type { IncomingMessage, ServerResponse } from 'node:http';

interface OpenRequest {
  request: IncomingMessage;
  response: ServerResponse;
}

/** The requests that have not been answered yet. */
export class OpenRequests {
  readonly #open = new Set<OpenRequest>();

  get count(): number {
    return this.#open.size;
  }

  add(request: IncomingMessage, response: ServerResponse): void {
    const entry = { request, response };
    this.#open.add(entry);
    response.once('close', () => this.#open.delete(entry));
  }

  /** Those whose body has not come in full. */
  *incomplete(): Generator<OpenRequest> {
    for (const entry of this.#open) if (!entry.request.complete) yield entry;
  }

  /** From now on each answer closes its connection. */
  closeAfterAnswers(): void {
    for (const { response } of this.#open) response.shouldKeepAlive = false;
  }
}
