import { createClient, ErrorReply } from 'redis';

type Client = ReturnType<typeof newClient>;

interface RedisLinkOptions {
  url: string;
  /** Done on each new connection before it counts as up. */
  prepare?: (client: Client) => Promise<void>;
  /** Called each time the link goes up or down; slow counts as down. */
  turned: (up: boolean) => void;
  /** Redis only reads: another one may have taken its place. */
  readOnly?: () => void;
}

const CONNECT_MS = 2_000;
const LOOK_EVERY_MS = 500;
/** A connection that leaves a ping unanswered for so long is thrown away. */
const PONG_MS = 1_500;
/** A connection to a Redis that only reads is thrown away at most so often: it may be the one that was meant. */
const RENEW_EVERY_MS = 60_000;
/** What may lie unanswered: a Redis that hangs must not fill the memory. */
const MAX_COMMANDS = 20_000;

/**
 * One connection to Redis that is watched: opened anew whenever it is lost or falls silent. While it is lost commands
 * reject at once, and what is under way on a silent one rejects within two seconds.
 */
export class RedisLink {
  readonly #options: RedisLinkOptions;
  #client: Client | null = null;
  #late = false;
  #renewedAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: RedisLinkOptions) {
    this.#options = options;
  }

  /** False also while a command is overdue: who cannot wait does without Redis then. */
  get up(): boolean {
    return this.#client !== null && !this.#late;
  }

  /** The first connection; from then on the link looks after itself. Rejects when Redis does not answer. */
  async start(): Promise<void> {
    await this.#open();
    this.#lookLater();
  }

  /** What Redis answers; rejects while the connection is lost, and after `limitMs` (0: when the connection is). */
  async run<T>(command: (client: Client) => Promise<T>, limitMs = 0): Promise<T> {
    const client = this.#client;
    if (client === null) throw new Error('Redis is away');
    try {
      return await (limitMs === 0 ? command(client) : within(command(client), limitMs));
    } catch (error) {
      if (error instanceof TooLate && this.#client === client) this.#setLate(true);
      if (error instanceof ErrorReply && error.message.startsWith('READONLY')) this.#options.readOnly?.();
      throw error;
    }
  }

  /** A new connection may lead elsewhere. */
  renew(): void {
    const now = performance.now();
    if (this.#client === null || now - this.#renewedAt < RENEW_EVERY_MS) return;
    this.#renewedAt = now;
    this.#lose(this.#client);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = null;
    if (client !== null) discard(client);
  }

  #lookLater(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      void this.#look().finally(() => this.#lookLater());
    }, LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const client = this.#client;
    try {
      if (client === null) await this.#open();
      else {
        await within(client.ping(), PONG_MS).catch(answered);
        this.#setLate(false);
      }
    } catch {
      if (client !== null) this.#lose(client);
    }
  }

  async #open(): Promise<void> {
    const client = newClient(this.#options.url);
    client.on('error', () => this.#lose(client));
    client.on('end', () => this.#lose(client));
    try {
      await within(client.connect(), CONNECT_MS);
      await within(Promise.resolve(this.#options.prepare?.(client)), CONNECT_MS);
      if (this.#stopped) throw new Error('stopped');
    } catch (error) {
      discard(client);
      throw error;
    }
    this.#client = client;
    this.#late = false;
    this.#options.turned(true);
  }

  #setLate(late: boolean): void {
    if (this.#late === late) return;
    this.#late = late;
    this.#options.turned(!late);
  }

  #lose(client: Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    discard(client);
    this.#options.turned(false);
  }
}

function newClient(url: string) {
  return createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_COMMANDS,
    socket: { connectTimeout: CONNECT_MS, reconnectStrategy: false },
  });
}

class TooLate extends Error {}

/** Also what Redis refuses is an answer: one that cannot save, or still loads, hands on what is published all the same. */
function answered(error: unknown): void {
  if (!(error instanceof ErrorReply)) throw error;
}

function discard(client: Client): void {
  if (client.isOpen) client.destroy();
}

function within<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    // An answer that lies in the socket while this thread was busy is in time.
    const timer = setTimeout(() => setImmediate(() => reject(new TooLate(`no answer within ${ms} ms`))), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
