import type { IncomingMessage } from 'node:http';
import { clientAddress } from './client-address.ts';
import { must } from '../must.ts';

/** Connections that a proxy may hold per one of its client's: it keeps some for nobody, and has many. */
const OF_A_PROXY = 10;

interface ClientConnectionsOptions {
  /** CONNECTIONS_PER_ADDRESS; 0: any number. */
  most: number;
  trustedProxies: number;
}

/**
 * Counts connections per client. Behind proxies a connection is its client's as long as a request of it has no answer,
 * or a WebSocket is open on it: were the proxy one client, a single sender could shut out all others behind it.
 */
export class ClientConnections {
  readonly #options: ClientConnectionsOptions;
  readonly #held = new Map<string, number>();
  readonly #addresses = new WeakMap<IncomingMessage, string>();

  constructor(options: ClientConnectionsOptions) {
    this.#options = options;
  }

  /** Maximum connections per peer; 0: any number. */
  get mostOfPeer(): number {
    const { most, trustedProxies } = this.#options;
    return trustedProxies > 0 ? most * OF_A_PROXY : most;
  }

  /** Counts the request's connection as busy, until `end`; false: its client holds as many as it may. */
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

  /** Ends the count of a request that was answered, or whose sender is gone; one that never began changes nothing. */
  end(request: IncomingMessage): void {
    const address = this.#addresses.get(request);
    if (address === undefined) return;
    this.#addresses.delete(request);
    const left = must(this.#held.get(address)) - 1;
    if (left > 0) this.#held.set(address, left);
    else this.#held.delete(address);
  }
}
