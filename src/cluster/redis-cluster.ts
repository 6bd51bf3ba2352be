import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Change, Cluster } from '../domain/ports/cluster.ts';
import type { Database } from '../domain/ports/database.ts';
import { ChangeMark } from './change-mark.ts';
import { type ChangeMessage, readChangeMessage } from './change-message.ts';
import { OnceAMinute } from './once-a-minute.ts';
import { RedisLink } from './redis-link.ts';

const ACKNOWLEDGE_MS = 2_000;
const PUBLISH_MS = 1_000;
const BLIND_EVERY_MS = 500;
const SAY_AGAIN_MS = 1_000;
/** Maximum message length; for a longer one all caches are cleared, which is faster than reading it. */
const MAX_CHARACTERS = 1_000_000;

const EVERYTHING: Change[] = [{ kind: 'everything' }];

type Channel = 'recorded' | 'called' | 'delivered';

interface RedisClusterOptions {
  url: string;
  /** Separates servers on different databases that share one Redis. */
  prefix: string;
  /** Database of all nodes; null: there is one node only, as on SQLite. */
  database: Database | null;
  /** Number of nodes that the database knows; left out: unknown. Never rejects. */
  nodes?: (() => Promise<number>) | undefined;
  log: Logger;
}

/**
 * Equal nodes around one Redis. `changed` resolves when every node that heard the change has acknowledged it; if some
 * may not have heard, the change mark in the database tells them first. While this node cannot hear (Redis away or
 * silent), it clears its caches every half second; for what it could not say meanwhile it later tells the others that
 * they missed something.
 */
export class RedisCluster implements Cluster {
  readonly shared = true;
  readonly commands: RedisLink;
  readonly #hearing: RedisLink;
  readonly #mark: ChangeMark | null;
  readonly #nodes: () => Promise<number>;
  readonly #node = randomUUID();
  readonly #prefix: string;
  readonly #log: Logger;
  readonly #complaints: OnceAMinute;
  readonly #changed: ((changes: Change[]) => void)[] = [];
  readonly #missed: (() => void)[] = [];
  readonly #listeners = new Map<Channel, (message: string) => void>();
  readonly #waiting = new Map<string, { missing: number; done: () => void }>();
  readonly #sayingAgain: NodeJS.Timeout;
  #blind: NodeJS.Timeout | null = null;
  /** Something did not reach the other nodes. */
  #unsaid = false;
  #stopping = false;

  private constructor({ url, prefix, database, nodes = () => Promise.resolve(0), log }: RedisClusterOptions) {
    this.#prefix = prefix;
    this.#nodes = nodes;
    this.#log = log;
    this.#complaints = new OnceAMinute(log);
    const onError = (error: unknown): void => this.#complaints.say('looking for changes in the database', error);
    this.#mark = database && new ChangeMark({ database, onMoved: () => this.#forget(), onError });
    this.#sayingAgain = setInterval(() => this.#makeUp(), SAY_AGAIN_MS);
    this.#sayingAgain.unref();
    // After a failover old connections may last; messages published there reach no node that has moved.
    const renew = (): void => {
      this.commands.renew();
      this.#hearing.renew();
    };
    this.commands = new RedisLink({ url, turned: () => this.#makeUp(), readOnly: renew });
    this.#hearing = new RedisLink({
      url,
      prepare: async (client) => {
        const hear = (name: string, listener: (text: string) => void): Promise<unknown> =>
          client.subscribe(`${prefix}:${name}`, listener);
        await Promise.all([
          hear('changed', (text) => this.#hear(text)),
          hear(`ack:${this.#node}`, (id) => this.#acknowledged(id, 1)),
          hear('missed', (from) => from !== this.#node && this.#miss()),
          hear('recorded', (text) => this.#receive('recorded', text)),
          hear('called', (text) => this.#receive('called', text)),
          hear('delivered', (text) => this.#receive('delivered', text)),
        ]);
      },
      turned: (up) => (up ? this.#see() : this.#goBlind()),
    });
  }

  /** Throws when Redis does not answer. */
  static async connect(options: RedisClusterOptions): Promise<RedisCluster> {
    const cluster = new RedisCluster(options);
    try {
      await cluster.#hearing.start();
      await cluster.commands.start();
      await cluster.#mark?.start();
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  get connected(): boolean {
    return this.commands.up && this.#hearing.up;
  }

  async changed(changes: Change[]): Promise<void> {
    // This node first, as it must be right even while Redis is away.
    for (const listener of this.#changed) listener(changes);
    try {
      await this.#tell(changes);
    } catch (error) {
      this.#complaints.say('a change did not reach other nodes by Redis', error);
      await this.#mark?.move();
    }
  }

  onChanged(listener: (changes: Change[]) => void): void {
    this.#changed.push(listener);
  }

  onMissed(listener: () => void): void {
    this.#missed.push(listener);
  }

  publish(channel: Channel, message: string): void {
    this.commands
      .run((client) => client.publish(`${this.#prefix}:${channel}`, `${this.#node}${message}`))
      .catch((error: unknown) => {
        this.#unsaid = true;
        this.#complaints.say('live values did not reach other nodes', error);
      });
  }

  onMessage(channel: Channel, listener: (message: string) => void): void {
    this.#listeners.set(channel, listener);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#mark?.stop();
    clearInterval(this.#sayingAgain);
    if (this.#blind !== null) clearInterval(this.#blind);
    this.#hearing.stop();
    this.commands.stop();
  }

  /** Rejects when some node may not have heard. */
  async #tell(changes: Change[]): Promise<void> {
    const id = randomUUID();
    const message: ChangeMessage = { id, from: this.#node, changes };
    const heard = new Promise<void>((resolve) => this.#waiting.set(id, { missing: 0, done: resolve }));
    try {
      let text = JSON.stringify(message);
      if (text.length > MAX_CHARACTERS) text = JSON.stringify({ ...message, changes: EVERYTHING });
      const publishing = this.commands
        .run((client) => client.publish(`${this.#prefix}:changed`, text), PUBLISH_MS)
        .catch((error: unknown) => {
          this.#unsaid = true;
          throw error;
        });
      // Counted after the commit: a node that comes later reads what was changed.
      const [nodes, known] = await Promise.all([publishing, this.#nodes()]);
      // A node without Redis clears its caches only every half second; until then it may be outdated.
      if (nodes < known) throw new Error('some node does not hear what Redis says');
      // Acknowledgements may come before the count; both meet at zero.
      this.#acknowledged(id, -nodes);
      await acknowledgedInTime(heard);
    } finally {
      this.#waiting.delete(id);
    }
  }

  #receive(channel: Channel, text: string): void {
    if (text.length > MAX_CHARACTERS) return this.#tooLong(text);
    if (!text.startsWith(this.#node)) this.#listeners.get(channel)?.(text.slice(this.#node.length));
  }

  #hear(text: string): void {
    if (text.length > MAX_CHARACTERS) return this.#tooLong(text);
    const message = readChangeMessage(text);
    if (message === null) return this.#complaints.say('a message from Redis is none of ours', text.slice(0, 100));
    const { id, from, changes } = message;
    if (from !== this.#node) for (const listener of this.#changed) listener(changes);
    // Without the acknowledgement the sender times out, and reports it.
    this.commands.run((client) => client.publish(`${this.#prefix}:ack:${from}`, id), PUBLISH_MS).catch(() => {});
  }

  /** Treats a message of unknown content as missed changes. */
  #tooLong(text: string): void {
    this.#complaints.say('a message from Redis is too long', `${text.length} characters`);
    this.#miss();
  }

  #acknowledged(id: string, count: number): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    waiting.missing -= count;
    if (waiting.missing === 0) waiting.done();
  }

  /** Makes other nodes clear their caches and tell their subscribers. */
  #makeUp(): void {
    if (!this.#unsaid || !this.commands.up) return;
    this.#unsaid = false;
    this.commands
      .run((client) => client.publish(`${this.#prefix}:missed`, this.#node))
      .catch(() => (this.#unsaid = true));
  }

  #goBlind(): void {
    if (this.#blind !== null || this.#stopping) return;
    this.#log.error('Redis is away: write limits hold for each node alone, caches are not kept until it is back');
    this.#miss();
    this.#blind = setInterval(() => this.#forget(), BLIND_EVERY_MS);
    this.#blind.unref();
  }

  #see(): void {
    if (this.#blind === null) return;
    clearInterval(this.#blind);
    this.#blind = null;
    this.#miss();
    this.#log.info('Redis is back');
  }

  #miss(): void {
    this.#forget();
    for (const listener of this.#missed) listener();
  }

  #forget(): void {
    for (const listener of this.#changed) listener(EVERYTHING);
  }
}

async function acknowledgedInTime(heard: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('some node did not acknowledge')), ACKNOWLEDGE_MS);
  });
  await Promise.race([heard, tooLate]).finally(() => clearTimeout(timer));
}
