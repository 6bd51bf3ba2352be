import type { Access } from '../domain/access/access.ts';
import type { DeviceClient } from '../domain/devices/device-clients.ts';

/** A message of a client that is signed in, or of a broker. */
export interface TopicMessage {
  topic: string;
  payload: Buffer;
  /** In ms UTC: when it came first; a message that is sent again keeps it. */
  receivedAt: number;
  /**
   * Whether nobody waits for its outcome any more, so that it need not be begun: the connection broke, and the message is
   * of QoS 1 or 2. One of QoS 0, or before a DISCONNECT, is stored although its sender has gone.
   */
  isAbandoned: () => boolean;
  /** The client that sends it, shown with its devices; left out: not shown. The same object for all of a connection. */
  client?: DeviceClient;
}

/** MQTT 5 reason codes that an acknowledgement may have (CONTRACT 14). */
export type TopicReason = 0x00 | 0x87 | 0x97 | 0x99;

/** What became of a message whose outcome is final: it is acknowledged. */
export interface TopicOutcome {
  reason: TopicReason;
  /** Code of the refusal (CONTRACT 3), the reason string of MQTT 5; null: everything was stored or kept. */
  code: string | null;
  stored: number;
  /** Number of entries that were refused: the user property `rejected`. */
  rejected: number;
  /** JSON text, as the record endpoint or the webhook would have answered: told on the outcome topic. */
  answer: string;
}

/** What messages mean; whoever holds the connection calls it. */
export interface TopicReceiver {
  /**
   * Resolves after the commit. Rejects with OVERLOADED or UNAVAILABLE (nothing is stored: do not acknowledge, read no more
   * until the wait is over, then try again or close), or UNAUTHENTICATED (the token is gone: close). Everything else is an
   * outcome. `access`: the client's, looked up anew by the door when the authenticator's revision moved. Each message is
   * given once: the door knows one that comes again, waits for the same promise, or answers with the outcome that it keeps.
   * Only after a rejection it is given again, as the same object: it may have been stored in part.
   */
  receive(access: Access, message: TopicMessage): Promise<TopicOutcome>;
  /** The outcome topic of a topic (`v1/<device>/outcome`), or null. */
  outcomeTopicOf(topic: string): string | null;
  /** Whether the token may subscribe to it: only `v1/<device>/outcome` of devices that it may record for. */
  maySubscribe(access: Access, filter: string): Promise<boolean>;
}
