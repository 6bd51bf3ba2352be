import { lruCache } from '../scheduling/lru-cache.ts';
import { AppError, asAppError } from '../errors.ts';
import { clientAddress, type Sender } from './client-address.ts';

const MINUTE_MS = 60_000;
const MAX_ADDRESSES = 10_000;

interface AnonymousRequestsOptions {
  /** ANONYMOUS_PER_MINUTE; 0: any number. */
  perMinute: number;
  trustedProxies: number;
  now: () => number;
}

/**
 * Bounds requests per minute and address that cost something and have no valid token (looking up an unknown token or
 * webhook, GraphQL without a token), then throws RATE_LIMITED. Known tokens never come here.
 */
export class AnonymousRequests {
  readonly #options: AnonymousRequestsOptions;
  readonly #left = lruCache<string, { tokens: number; at: number }>(MAX_ADDRESSES);

  constructor(options: AnonymousRequestsOptions) {
    this.#options = options;
  }

  /** Call before the work; throws RATE_LIMITED. */
  begin(request: Sender): void {
    const { perMinute, now } = this.#options;
    if (perMinute === 0) return;
    const address = this.addressOf(request);
    const at = now();
    let left = this.#left.get(address);
    if (left === undefined) this.#left.set(address, (left = { tokens: perMinute, at }));
    // A clock that was set back adds nothing.
    left.tokens = Math.min(perMinute, left.tokens + (Math.max(0, at - left.at) * perMinute) / MINUTE_MS);
    left.at = at;
    if (left.tokens < 1)
      throw new AppError('RATE_LIMITED', 'Too many requests without a valid token from this address; wait a while.', {
        details: { retryAfterSeconds: Math.max(1, Math.ceil(60 / perMinute)) },
      });
    left.tokens -= 1;
  }

  /**
   * Runs `lookUp` for a request, which counts when the result is null, or it fails: but for a database that does not
   * answer, which says nothing of the sender. Throws RATE_LIMITED.
   */
  async during<T>(request: Sender, lookUp: () => Promise<T>): Promise<T> {
    this.begin(request);
    const found = await lookUp().catch((error: unknown) => this.failed(request, error));
    if (found !== null) this.wasKnown(request);
    return found;
  }

  /** Throws the error with which looking up its token ended. */
  failed(request: Sender, error: unknown): never {
    if (asAppError(error)?.code === 'UNAVAILABLE') this.wasKnown(request);
    throw error;
  }

  /** The token was valid after all: a server that was just started knows none yet. */
  wasKnown(request: Sender): void {
    const left = this.#left.get(this.addressOf(request));
    if (left !== undefined) left.tokens += 1;
  }

  /** The address that the request comes from. */
  addressOf(request: Sender): string {
    return clientAddress(request, this.#options.trustedProxies);
  }
}
