import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { connect, type ErrorWithReasonCode, type IPublishPacket, type MqttClient } from 'mqtt';
import { writeToStream } from 'mqtt-packet';
import type { Logger } from 'pino';
import type { Authenticator } from '../domain/accounts/authenticator.ts';
import { WEBHOOK_TOPIC } from '../domain/decoders/decoder-request.ts';
import type { DeviceClient } from '../domain/devices/device-clients.ts';
import type { BrokerSettings } from '../mqtt-settings.ts';
import { asAppError, unauthenticated } from '../errors.ts';
import { pause } from '../scheduling/pause.ts';
import type { TopicMessage, TopicOutcome } from './topic-message.ts';
import type { Topics } from './topics.ts';

interface BrokerSourceDeps {
  settings: BrokerSettings;
  /** Whether several nodes may share the broker's messages. */
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
/** Seconds for which a broker keeps the messages of a server that is away (MQTT 5; others keep them for ever). */
const SESSION_SECONDS = 7 * 86_400;
const RECONNECT_MS = 2_000;
/** Pauses before a message is tried again: at first, and at most, unless the refusal names one. */
const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [250, 10_000];
/** Maximum time for leaving the broker. */
const GOODBYE_MS = 1_000;
/** Maximum characters of an answer in the log. */
const MAX_TOLD = 500;
/** Minimum time between two lines of the log about refused messages. */
const TELL_EVERY_MS = 60_000;
/** Reason codes of a broker that speaks MQTT 3.1.1 alone. */
const OTHER_VERSION: ReadonlySet<number> = new Set([0x01, 0x84]);
const FAILED = 0x80;
/** Messages that are known when the broker sends them again; it waits for far fewer acknowledgements. */
const MAX_KNOWN = 1_000;
/** Goes on with the next packet while this one is not acknowledged. */
const LATER = new Error('acknowledged later');

/**
 * Takes the messages of a broker with the rights of a token (CONTRACT 14): each is acknowledged after its commit, in the
 * order in which they came, and tried again while the server is overloaded or the token is gone. Topics without a meaning
 * of their own go to a webhook.
 */
export class BrokerSource {
  readonly #deps: BrokerSourceDeps;
  /** By packet id and content: whether the message was received, or is going to be. */
  readonly #known = new LRUCache<string, Promise<boolean>>({ max: MAX_KNOWN });
  #client: MqttClient;
  /** Reads on when fewer messages are under way. */
  #readOn: (() => void) | null = null;
  /** The present connection, as devices show it. */
  #asClient: DeviceClient | undefined;
  #underWay = 0;
  /** Resolves when all before are acknowledged. */
  #line: Promise<unknown> = Promise.resolve();
  readonly #stopped = Promise.withResolvers<void>();
  #isStopping = false;
  #toldAt = 0;

  constructor(deps: BrokerSourceDeps) {
    this.#deps = deps;
    this.#client = this.#connect(5);
  }

  /** Takes no more messages, acknowledges those under way, and leaves the broker, which keeps the others. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#stopped.resolve();
    await this.#line;
    await Promise.race([this.#client.endAsync(), pause(GOODBYE_MS)]);
    // A broker that does not answer is waited for no longer.
    this.#client.stream.destroy();
  }

  #connect(protocolVersion: 4 | 5): MqttClient {
    const { settings, maxMessageBytes, now, log } = this.#deps;
    const client = connect(settings.url, {
      protocolVersion,
      clientId: settings.clientId,
      clean: false,
      resubscribe: false,
      reconnectPeriod: RECONNECT_MS,
      reconnectOnConnackError: true,
      properties:
        protocolVersion === 4
          ? undefined
          : {
              sessionExpiryInterval: SESSION_SECONDS,
              receiveMaximum: MAX_UNDER_WAY,
              maximumPacketSize: maxMessageBytes + 65_536,
            },
    });
    const broker = new URL(settings.url).host;
    /** The last failure: one that repeats is told once. */
    let told: string | null = null;
    client.handleMessage = (packet, done) => this.#take(packet, done);
    client.on('connect', () => {
      told = null;
      this.#asClient = { id: `broker ${broker}`, connectedAt: now(), isConnected: true };
      log.info({ broker, protocolVersion }, 'MQTT source: connected');
      this.#subscribe(client, protocolVersion);
    });
    client.on('close', () => {
      if (this.#asClient !== undefined) this.#asClient.isConnected = false;
    });
    client.on('error', (error: Error | ErrorWithReasonCode) => {
      if (protocolVersion === 5 && 'code' in error && OTHER_VERSION.has(Number(error.code))) {
        client.end(true);
        if (!this.#isStopping) this.#client = this.#connect(4);
        return;
      }
      const reason = reasonOf(error);
      if (reason !== told) log.error({ broker, reason }, 'MQTT source: the broker cannot be used; tried again');
      told = reason;
    });
    return client;
  }

  #subscribe(client: MqttClient, protocolVersion: 4 | 5): void {
    const { settings, isShared, log } = this.#deps;
    const { topics, retained } = settings;
    const filters = isShared
      ? topics.map((topic) => (topic.startsWith('$share/') ? topic : `$share/inlet/${topic}`))
      : topics;
    // Retained copies are not sent at subscribing unless wanted (MQTT 5), and known by their flag in any case.
    const options = protocolVersion === 5 ? ({ qos: 1, rh: retained ? 0 : 2 } as const) : ({ qos: 1 } as const);
    client.subscribe([...filters], options, (error, granted = []) => {
      const refused = granted.filter(({ qos }) => (qos as number) >= FAILED).map(({ topic }) => topic);
      if (error !== null || refused.length > 0)
        log.error({ refused, reason: error?.message }, 'MQTT source: the broker refuses topics of MQTT_SOURCE_TOPICS');
      else log.info({ topics: filters }, 'MQTT source: subscribed');
    });
  }

  /** `done`: call it with an error to go on without acknowledging. */
  #take(packet: IPublishPacket, done: (error?: Error) => void): void {
    const isCopy = packet.retain && !this.#deps.settings.retained;
    if (isCopy) return done();
    // What is not begun stays with the broker.
    if (this.#isStopping) return done(LATER);
    const key = `${packet.messageId} ${hash('sha1', packet.topic)} ${hash('sha1', packet.payload)}`;
    const received = (packet.dup ? this.#known.get(key) : undefined) ?? this.#receive(packet);
    if (packet.qos > 0) this.#known.set(key, received);
    this.#underWay += 1;
    this.#line = this.#acknowledge(packet, this.#line, received);
    if (this.#underWay <= MAX_UNDER_WAY) done(LATER);
    else this.#readOn = () => done(LATER);
  }

  /** Acknowledges on the connection that the message came by: on another one its packet id is another message's. */
  async #acknowledge(packet: IPublishPacket, before: Promise<unknown>, received: Promise<boolean>): Promise<void> {
    const { stream, options } = this.#client;
    await before;
    const isReceived = await received;
    this.#underWay -= 1;
    if (isReceived && packet.qos > 0 && this.#client.connected && this.#client.stream === stream)
      writeToStream({ cmd: 'puback', messageId: packet.messageId, reasonCode: 0 }, stream, options);
    const readOn = this.#readOn;
    this.#readOn = null;
    readOn?.();
  }

  /** Resolves after the commit; false: the server is stopping, and the message stays with the broker. Never rejects. */
  async #receive({ topic, payload }: IPublishPacket): Promise<boolean> {
    const { onReceived, now } = this.#deps;
    const message: TopicMessage = {
      topic,
      payload: Buffer.from(payload),
      receivedAt: now(),
      isAbandoned: () => this.#isStopping,
      ...(this.#asClient === undefined ? {} : { client: this.#asClient }),
    };
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
        const told = typeof seconds === 'number' ? seconds * 1_000 : 0;
        await Promise.race([pause(Math.min(Math.max(waitMs, told), MAX_PAUSE_MS)), this.#stopped.promise]);
        if (this.#isStopping) return false;
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

function reasonOf(error: unknown): string {
  // Several refused addresses are one error without a message.
  const errors: unknown[] = error instanceof AggregateError ? error.errors : [error];
  return errors.map((one) => (one instanceof Error ? one.message : String(one))).join('; ');
}
