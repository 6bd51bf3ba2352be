import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { lruCache } from '../scheduling/lru-cache.ts';
import type { IPublishPacket } from 'mqtt';
import type { Logger } from 'pino';
import type { Authenticator } from '../domain/accounts/authenticator.ts';
import { WEBHOOK_TOPIC } from '../domain/decoders/decoder-request.ts';
import type { BrokerSettings } from '../mqtt-settings.ts';
import { asAppError, unauthenticated } from '../errors.ts';
import { BrokerConnection, type ReadOn, reasonOf } from './broker-connection.ts';
import type { TopicMessage, TopicOutcome } from './topic-message.ts';
import type { Topics } from './topics.ts';

interface BrokerSourceDeps {
  settings: BrokerSettings;
  /** Whether several nodes share the broker's messages. */
  isShared: boolean;
  maxMessageBytes: number;
  authenticator: Pick<Authenticator, 'authenticate' | 'cached'>;
  topics: Pick<Topics, 'receive' | 'call' | 'hasMeaning'>;
  /** Told of each message that was received. */
  onReceived: (outcome: TopicOutcome) => void;
  now: () => number;
  log: Logger;
}

/** Maximum messages under way; the broker sends no more, and beyond it nothing is read. */
const MAX_UNDER_WAY = 64;
/** Bytes of a packet beside its payload. */
const BESIDE_PAYLOAD = 65_536;
/** Messages that are known when the broker sends them again; it waits for far fewer acknowledgements. */
const MAX_KNOWN = 1_000;
/** Pauses before a message is tried again: at first, and at most, unless the refusal names one. */
const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [250, 10_000];
/** Minimum time between two lines of the log about messages, and maximum characters of an answer there. */
const [TELL_EVERY_MS, MAX_TOLD] = [60_000, 500];

/**
 * Takes the messages of a broker with the rights of a token (CONTRACT 14): each is acknowledged after its commit, in the
 * order in which they came, and tried again while the server is overloaded or the token is gone. Topics without a meaning
 * of their own go to a webhook.
 */
export class BrokerSource {
  readonly #deps: BrokerSourceDeps;
  readonly #connection: BrokerConnection;
  /** By packet id and content: whether the message was received, or is going to be. */
  readonly #known = lruCache<string, Promise<boolean>>(MAX_KNOWN);
  /** `readOn` is called when fewer messages are under way. */
  readonly #underWay: { count: number; readOn: ReadOn | null } = { count: 0, readOn: null };
  /** Resolves when all before are acknowledged. */
  #line: Promise<unknown> = Promise.resolve();
  readonly #stop = new AbortController();
  #toldAt = 0;

  constructor(deps: BrokerSourceDeps) {
    this.#deps = deps;
    const { settings, isShared, maxMessageBytes, now, log } = deps;
    const most = { underWay: MAX_UNDER_WAY, packetBytes: maxMessageBytes + BESIDE_PAYLOAD };
    const onMessage = (packet: IPublishPacket, readOn: ReadOn): void => this.#take(packet, readOn);
    this.#connection = new BrokerConnection({ settings, isShared, most, onMessage, now, log });
  }

  /** Takes no more messages, acknowledges those under way, and leaves the broker, which keeps the others. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#line;
    await this.#connection.close();
  }

  #take(packet: IPublishPacket, readOn: ReadOn): void {
    const acknowledge = this.#connection.acknowledger(packet);
    const isCopy = packet.retain && !this.#deps.settings.retained;
    // What is not begun stays with the broker.
    if (this.#stop.signal.aborted) return readOn();
    const key = `${packet.messageId} ${hash('sha1', packet.topic)} ${hash('sha1', packet.payload)}`;
    const again = packet.dup ? this.#known.get(key) : undefined;
    const received = isCopy ? Promise.resolve(true) : (again ?? this.#receive(packet));
    if (packet.qos > 0) this.#known.set(key, received);
    this.#underWay.count += 1;
    this.#line = this.#finish(this.#line, received, acknowledge);
    if (this.#underWay.count <= MAX_UNDER_WAY) readOn();
    else this.#underWay.readOn = readOn;
  }

  async #finish(before: Promise<unknown>, received: Promise<boolean>, acknowledge: () => void): Promise<void> {
    await before;
    if (await received) acknowledge();
    this.#underWay.count -= 1;
    const { readOn } = this.#underWay;
    this.#underWay.readOn = null;
    readOn?.();
  }

  /** Resolves after the commit; false: the server is stopping, and the message stays with the broker. Never rejects. */
  async #receive({ topic, payload }: IPublishPacket): Promise<boolean> {
    const { onReceived, now } = this.#deps;
    const { signal } = this.#stop;
    const { asClient: client } = this.#connection;
    const isAbandoned = (): boolean => signal.aborted;
    const about = { topic, payload: Buffer.from(payload), receivedAt: now(), isAbandoned };
    const message: TopicMessage = client === undefined ? about : { ...about, client };
    for (let waitMs = FIRST_PAUSE_MS; ; waitMs = Math.min(2 * waitMs, MAX_PAUSE_MS)) {
      try {
        const outcome = await this.#outcomeOf(message);
        onReceived(outcome);
        const { reason, rejected, code, answer } = outcome;
        if (rejected > 0 || reason !== 0)
          this.#tell({ topic, code, answer: answer.slice(0, MAX_TOLD) }, 'something was refused');
        return true;
      } catch (error) {
        const refusal = asAppError(error);
        this.#tell({ topic, code: refusal?.code, reason: reasonOf(error) }, 'a message is tried again');
        const seconds = refusal?.details['retryAfterSeconds'];
        const asked = typeof seconds === 'number' ? seconds * 1_000 : 0;
        const pauseMs = Math.min(Math.max(waitMs, asked), MAX_PAUSE_MS);
        await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
        if (signal.aborted) return false;
      }
    }
  }

  async #outcomeOf(message: TopicMessage): Promise<TopicOutcome> {
    const { authenticator, settings, topics } = this.#deps;
    const { token, webhookId } = settings;
    const access = authenticator.cached(token) ?? (await authenticator.authenticate(token));
    if (access === null) throw unauthenticated('The token of MQTT_SOURCE_TOKEN is unknown, expired or revoked.');
    if (webhookId === null || topics.hasMeaning(message.topic)) return topics.receive(access, message);
    return topics.call(access, message, webhookId, `${WEBHOOK_TOPIC}${webhookId}/${message.topic}`);
  }

  /** Logs one of them a minute: there is nobody to answer to. */
  #tell(facts: object, what: string): void {
    const at = this.#deps.now();
    if (Math.abs(at - this.#toldAt) < TELL_EVERY_MS) return;
    this.#toldAt = at;
    this.#deps.log.warn(facts, `MQTT source: ${what}`);
  }
}
