import { connect, type ErrorWithReasonCode, type IPublishPacket, type MqttClient } from 'mqtt';
import { writeToStream } from 'mqtt-packet';
import type { Logger } from 'pino';
import type { DeviceClient } from '../domain/devices/device-clients.ts';
import type { BrokerSettings } from '../mqtt-settings.ts';
import { pause } from '../scheduling/pause.ts';

/** Goes on with the broker's next packet; the message is acknowledged later, by `acknowledger`. */
export type ReadOn = () => void;

interface BrokerConnectionDeps {
  settings: BrokerSettings;
  /** Whether several nodes share the broker's messages. */
  isShared: boolean;
  /** Maximum messages that the broker sends before one is acknowledged, and bytes per packet (MQTT 5). */
  most: { underWay: number; packetBytes: number };
  /** Called with each message; no other is read before `readOn` is called. */
  onMessage: (packet: IPublishPacket, readOn: ReadOn) => void;
  now: () => number;
  log: Logger;
}

/** Seconds for which a broker keeps the messages of a server that is away (MQTT 5; others keep them for ever). */
const SESSION_SECONDS = 7 * 86_400;
const RECONNECT_MS = 2_000;
/** Maximum time for leaving the broker. */
const GOODBYE_MS = 1_000;
/** Reason codes of a broker that speaks MQTT 3.1.1 alone. */
const OTHER_VERSION: ReadonlySet<number> = new Set([0x01, 0x84]);
const FAILED = 0x80;
/** Makes the client go on with the next packet while this one is not acknowledged. */
const LATER = new Error('acknowledged later');

/** A subscriber at a broker that connects again, in a session that stays, and leaves acknowledging to its owner. */
export class BrokerConnection {
  readonly #deps: BrokerConnectionDeps;
  #client: MqttClient;
  #asClient: DeviceClient | undefined;
  #isClosing = false;

  constructor(deps: BrokerConnectionDeps) {
    this.#deps = deps;
    this.#client = this.#connect(5);
  }

  /** The present or last connection, as devices show it. */
  get asClient(): DeviceClient | undefined {
    return this.#asClient;
  }

  /** Acknowledges a message on the present connection; on a later one nothing, as its packet id is another message's. */
  acknowledger({ qos, messageId }: IPublishPacket): () => void {
    const { stream, options } = this.#client;
    return () => {
      if (qos > 0 && this.#client.connected && this.#client.stream === stream)
        writeToStream({ cmd: 'puback', messageId, reasonCode: 0 }, stream, options);
    };
  }

  /** Leaves the broker, which keeps what was not acknowledged. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.race([this.#client.endAsync(), pause(GOODBYE_MS)]);
    // A broker that does not answer is waited for no longer.
    this.#client.stream.destroy();
  }

  #connect(protocolVersion: 4 | 5): MqttClient {
    const { settings, most, onMessage, now, log } = this.#deps;
    const properties = {
      sessionExpiryInterval: SESSION_SECONDS,
      receiveMaximum: most.underWay,
      maximumPacketSize: most.packetBytes,
    };
    const client = connect(settings.url, {
      protocolVersion,
      clientId: settings.clientId,
      clean: false,
      resubscribe: false,
      reconnectPeriod: RECONNECT_MS,
      reconnectOnConnackError: true,
      properties: protocolVersion === 4 ? undefined : properties,
    });
    const broker = new URL(settings.url).host;
    /** The last failure: one that repeats is told once. */
    let told: string | null = null;
    client.handleMessage = (packet, done) => onMessage(packet, () => done(LATER));
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
        if (!this.#isClosing) this.#client = this.#connect(4);
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
    const shared = (topic: string): string => (topic.startsWith('$share/') ? topic : `$share/inlet/${topic}`);
    const topics = settings.topics.map((topic) => (isShared ? shared(topic) : topic));
    // Retained copies are not sent at subscribing unless wanted (MQTT 5), and known by their flag in any case.
    const options =
      protocolVersion === 5 ? ({ qos: 1, rh: settings.retained ? 0 : 2 } as const) : ({ qos: 1 } as const);
    client.subscribe(topics, options, (error, granted = []) => {
      const refused = granted.filter(({ qos }) => (qos as number) >= FAILED).map(({ topic }) => topic);
      if (error !== null || refused.length > 0)
        log.error({ refused, reason: error?.message }, 'MQTT source: the broker refuses topics of MQTT_SOURCE_TOPICS');
      else log.info({ topics }, 'MQTT source: subscribed');
    });
  }
}

/** The reason of an error for the log. */
export function reasonOf(error: unknown): string {
  // Several refused addresses are one error without a message.
  const errors: unknown[] = error instanceof AggregateError ? error.errors : [error];
  return errors.map((one) => (one instanceof Error ? one.message : String(one))).join('; ');
}
