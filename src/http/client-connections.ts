import type { IncomingMessage } from 'node:http';
import { clientAddress } from './client-address.ts';

/** A proxy may hold so many times as much as one of those for whom it does: it keeps some for nobody, and has many. */
const OF_A_PROXY = 10;

interface ClientConnectionsOptions {
  /** CONNECTIONS_PER_ADDRESS; 0: any number. */
  most: number;
  trustedProxies: number;
}

/**
 * Who holds connections. Behind proxies one is its client's as long as a request of it has no answer, or a WebSocket is
 * open on it: were the proxy one client, whoever opened so many WebSockets through it would shut out all others.
 */
export class ClientConnections {
  readonly #options: ClientConnectionsOptions;
  readonly #held = new Map<string, number>();
  readonly #addresses = new WeakMap<IncomingMessage, string>();

  constructor(options: ClientConnectionsOptions) {
    this.#options = options;
  }

  /** How many whoever connects may have open; 0: any number. */
  get mostOfPeer(): number {
    const { most, trustedProxies } = this.#options;
    return trustedProxies > 0 ? most * OF_A_PROXY : most;
  }

  /** Its connection is busy with it from now on, until `end`; false: its client holds as many as it may. */
  begin(request: IncomingMessage): boolean {
    const { most, trustedProxies } = this.#options;
    if (most === 0 || trustedProxies === 0) return true;
    const address = clientAddress(request, trustedProxies);
    const count = (this.#held.get(address) ?? 0) + 1;
    if (count > most) return false;
    this.#held.set(address, count);
    this.#addresses.set(request, address);
    return true;
  }

  /** It has its answer, or its sender is gone; one that never began changes nothing. */
  end(request: IncomingMessage): void {
    const address = this.#addresses.get(request);
    if (address === undefined) return;
    this.#addresses.delete(request);
    const left = this.#held.get(address)! - 1;
    if (left > 0) this.#held.set(address, left);
    else this.#held.delete(address);
  }
}
