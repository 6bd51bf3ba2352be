import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { createClient } from 'redis';
import type { Change, Cluster } from '../domain/cluster.ts';

const CONNECT_MS = 10_000;
const ACKNOWLEDGE_MS = 2_000;
const BLIND_EVERY_MS = 500;

type Client = ReturnType<typeof createClient>;
type Channel = 'recorded' | 'called';

interface ChangeMessage {
  id: string;
  from: string;
  changes: Change[];
}

/**
 * Equal nodes around one Redis. A change is acknowledged by every node that heard it before `changed` resolves. While
 * the subscription is down a node may miss changes, so it forgets its caches every half second until it hears again.
 */
export class RedisCluster implements Cluster {
  readonly shared = true;
  readonly client: Client;
  readonly #subscriber: Client;
  readonly #node = randomUUID();
  readonly #prefix: string;
  readonly #log: Logger;
  readonly #changed: ((changes: Change[]) => void)[] = [];
  readonly #waiting = new Map<string, { missing: number; done: () => void }>();
  #blind: NodeJS.Timeout | null = null;
  #stopping = false;

  private constructor(url: string, prefix: string, log: Logger) {
    this.#prefix = prefix;
    this.#log = log;
    this.client = createClient({ url, disableOfflineQueue: true });
    this.#subscriber = createClient({ url });
    this.client.on('error', (error: unknown) => log.warn({ err: error }, 'Redis'));
    this.#subscriber.on('error', () => this.#goBlind());
    this.#subscriber.on('ready', () => this.#see());
  }

  /** `prefix` keeps servers on different databases apart on one Redis. Throws when Redis does not answer. */
  static async connect(url: string, prefix: string, log: Logger): Promise<RedisCluster> {
    const cluster = new RedisCluster(url, prefix, log);
    let timer: NodeJS.Timeout | undefined;
    // Once connected the clients try for ever to get back; the first time somebody waits for the server to start.
    const tooLate = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${CONNECT_MS / 1000} s`)), CONNECT_MS);
    });
    try {
      await Promise.race([Promise.all([cluster.client.connect(), cluster.#subscriber.connect()]), tooLate]);
    } catch (error) {
      await cluster.stop();
      throw error;
    } finally {
      clearTimeout(timer);
    }
    await cluster.#subscriber.subscribe(`${prefix}:changed`, (message) => cluster.#hear(message));
    await cluster.#subscriber.subscribe(`${prefix}:ack:${cluster.#node}`, (id) => cluster.#acknowledged(id, 1));
    return cluster;
  }

  async changed(changes: Change[]): Promise<void> {
    // This node first: it must be right even when Redis is away.
    for (const listener of this.#changed) listener(changes);
    const id = randomUUID();
    const message: ChangeMessage = { id, from: this.#node, changes };
    const heard = new Promise<void>((resolve) => this.#waiting.set(id, { missing: 0, done: resolve }));
    try {
      const nodes = await this.client.publish(`${this.#prefix}:changed`, JSON.stringify(message));
      // Acknowledgements may have come before the count; both meet at zero.
      this.#acknowledged(id, -nodes);
      await Promise.race([
        heard,
        new Promise((_, reject) =>
          setTimeout(() => reject(new Error('some node did not acknowledge')), ACKNOWLEDGE_MS).unref(),
        ),
      ]);
    } catch (error) {
      this.#log.error({ err: error }, 'a change may reach other nodes late');
    } finally {
      this.#waiting.delete(id);
    }
  }

  onChanged(listener: (changes: Change[]) => void): void {
    this.#changed.push(listener);
  }

  publish(channel: Channel, message: string): void {
    this.client
      .publish(`${this.#prefix}:${channel}`, `${this.#node}${message}`)
      .catch((error: unknown) => this.#log.warn({ err: error }, 'live values did not reach other nodes'));
  }

  onMessage(channel: Channel, listener: (message: string) => void): void {
    const length = this.#node.length;
    void this.#subscriber.subscribe(`${this.#prefix}:${channel}`, (message) => {
      if (!message.startsWith(this.#node)) listener(message.slice(length));
    });
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#blind !== null) clearInterval(this.#blind);
    this.#subscriber.destroy();
    if (this.client.isOpen) this.client.destroy();
  }

  #hear(text: string): void {
    const { id, from, changes } = JSON.parse(text) as ChangeMessage;
    if (from !== this.#node) for (const listener of this.#changed) listener(changes);
    this.client.publish(`${this.#prefix}:ack:${from}`, id).catch(() => {});
  }

  #acknowledged(id: string, count: number): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    waiting.missing -= count;
    if (waiting.missing === 0) waiting.done();
  }

  #goBlind(): void {
    if (this.#blind !== null || this.#stopping) return;
    this.#log.error('Redis is away: caches are not kept until it is back');
    this.#forget();
    this.#blind = setInterval(() => this.#forget(), BLIND_EVERY_MS);
    this.#blind.unref();
  }

  #see(): void {
    if (this.#blind === null) return;
    clearInterval(this.#blind);
    this.#blind = null;
    this.#forget();
    this.#log.info('Redis is back');
  }

  #forget(): void {
    for (const listener of this.#changed) listener([{ kind: 'everything' }]);
  }
}
