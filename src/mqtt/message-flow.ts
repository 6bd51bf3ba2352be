import { hash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Access } from '../domain/access/access.ts';
import type { DeviceClient } from '../domain/devices/device-clients.ts';
import { type AppError, asAppError } from '../errors.ts';
import { AckLine } from './ack-line.ts';
import { REASONS, TYPES } from './frames.ts';
import type { MqttDoor } from './mqtt-door.ts';
import { acknowledgement, shortAcknowledgement, type Told, writePacket } from './packets.ts';
import type { PublishPacket } from './publish-packet.ts';
import type { Holder, SeenMessage, Session } from './sessions.ts';
import { TokenWatch, tokenGone } from './token-watch.ts';
import { MAX_TOPIC } from './topic-meaning.ts';
import type { TopicMessage } from './topic-message.ts';

interface MessageFlowDeps {
  door: MqttDoor;
  connection: Holder;
  access: Access;
  session: Session;
  shown: DeviceClient;
  isVersion5: boolean;
  /** Whether the client wants to hear reasons. */
  tellsProblems: boolean;
  /** Writes bytes; false: the connection has ended. */
  write: (bytes: Buffer) => boolean;
  /** Called when there is room for more messages. */
  goOn: () => void;
  end: (reason: number, text: string) => void;
}

/** Maximum messages under way per connection; beyond it nothing is read. */
export const MAX_UNDER_WAY = 32;
/** Maximum acknowledgements per connection that wait for those before them. */
const MAX_ACKS = 2 * MAX_UNDER_WAY;
/** Pauses before a message is tried again: at first, and at most, unless the refusal names one. */
const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [250, 10_000];
/** Maximum time for which a message is tried again before its connection ends. */
const MAX_TRYING_MS = 60_000;
/** Maximum levels per topic. */
const MAX_LEVELS = 32;
const NOTHING: Buffer = Buffer.alloc(0);
/** Why it stops, where its memory is needed. */
const GIVEN_UP = 'given up';

/**
 * Messages of a client on their way: given on in order, many at once, and acknowledged after their commit in the order in
 * which they came (MQTT 4.6). One that meets an overload is tried again, and nothing is read meanwhile.
 */
export class MessageFlow {
  readonly #deps: MessageFlowDeps;
  readonly #token: TokenWatch;
  readonly #acks: AckLine;
  #underWay = 0;
  #bytes = 0;
  /** Number of messages that wait to be tried again. */
  #waiting = 0;
  readonly #stopping = new AbortController();
  #idle: (() => void) | null = null;

  constructor(deps: MessageFlowDeps) {
    this.#deps = deps;
    this.#token = new TokenWatch(deps.access, deps.door);
    this.#acks = new AckLine(deps.write);
    // Looked up before; something may have changed meanwhile.
    void this.recheck();
  }

  get access(): Access {
    return this.#token.access;
  }

  /** Messages without an outcome, and the bytes of their payloads. */
  get underWay(): number {
    return this.#underWay;
  }
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether it takes no more for now; one that waits to be tried again holds back all behind it. */
  get isFull(): boolean {
    const { maxMessageBytes } = this.#deps.door;
    const isMany = this.#underWay >= MAX_UNDER_WAY || this.#acks.length >= MAX_ACKS;
    return isMany || this.#bytes > maxMessageBytes || this.#waiting > 0;
  }

  take(packet: PublishPacket): void {
    const { topic, qos, isAgain, id, payload } = packet;
    const { door, session, connection } = this.#deps;
    const refusal = refusalOf(packet, door.maxMessageBytes);
    if (refusal !== null) {
      door.onReceived(refusal);
      if (qos > 0) this.answer(this.#ackOf(qos === 1 ? TYPES.puback : TYPES.pubrec, id, refusal));
      return;
    }
    if (qos === 0) {
      void this.#count(
        payload.length,
        this.#receive(this.#message(topic, payload, () => this.#stopping.signal.reason === GIVEN_UP)),
      );
      return;
    }
    const digest = `${qos} ${hash('sha1', payload, 'base64')} ${topic}`;
    const known = session.find({ id, digest, isAgain, by: connection, at: door.now() });
    const seen = known ?? this.#see(qos, digest, topic, payload);
    if (known === null) session.add(id, seen);
    seen.holder = connection;
    const place = this.#acks.next(() => session.acknowledged(id, seen, connection, door.now()));
    const length = seen.told === null ? payload.length : 0;
    const type = qos === 1 ? TYPES.puback : TYPES.pubrec;
    const acknowledged = async (): Promise<void> => {
      const told = await this.#outcomeOf(seen, payload);
      this.#acks.put(place, this.#ackOf(type, id, told));
    };
    void this.#count(length, acknowledged());
  }

  /** Answers in the line of the acknowledgements. */
  answer(bytes: Buffer): void {
    this.#acks.put(
      this.#acks.next(() => {}),
      bytes,
    );
  }

  /** Looks up the token anew; resolves with the present rights, or ends the connection. */
  async recheck(): Promise<Access | null> {
    try {
      return await this.#token.present();
    } catch (error) {
      // A database that is away says nothing about the token; the next message asks again.
      if (asAppError(error)?.code === 'UNAUTHENTICATED') this.#unauthorised();
      return null;
    }
  }

  /** Gives up all that waits, to make room. */
  giveUp(): void {
    this.#stopping.abort(GIVEN_UP);
  }

  /** Resolves when nothing is under way; what waits to be tried again is given up. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  #see(qos: 1 | 2, digest: string, topic: string, payload: Buffer): SeenMessage {
    const message = this.#message(topic, payload, () => seen.holder.isLost);
    const seen: SeenMessage = {
      qos,
      digest,
      holder: this.#deps.connection,
      message,
      receiving: null,
      told: null,
      toldAt: 0,
      cameUnsaid: false,
    };
    return seen;
  }

  #message(topic: string, payload: Buffer, isAbandoned: () => boolean): TopicMessage {
    const { door, shown } = this.#deps;
    return { topic, payload, receivedAt: door.now(), isAbandoned, client: shown };
  }

  /** Counts a message until its outcome is known; one that has none is not acknowledged. */
  async #count(bytes: number, receiving: Promise<unknown>): Promise<void> {
    this.#underWay += 1;
    this.#bytes += bytes;
    try {
      await receiving;
    } catch {
      // It was told where it happened.
    }
    this.#underWay -= 1;
    this.#bytes -= bytes;
    if (this.#underWay === 0) this.#idle?.();
    if (!this.#stopping.signal.aborted) this.#deps.goOn();
  }

  /** The outcome of a message, whichever connection it came by. Rejects when it was given up. */
  #outcomeOf(seen: SeenMessage, payload: Buffer): Promise<Told> {
    if (seen.told !== null) return Promise.resolve(seen.told);
    const begin = (): Promise<Told> => this.#begin(seen, payload);
    return seen.receiving === null ? begin() : seen.receiving.catch(begin);
  }

  #begin(seen: SeenMessage, payload: Buffer): Promise<Told> {
    if (seen.told !== null) return Promise.resolve(seen.told);
    const { message } = seen;
    if (message === null) return Promise.reject(tokenGone());
    message.payload = payload;
    const receiving = this.#receive(message).then(
      (told) => {
        seen.told = told;
        seen.toldAt = this.#deps.door.now();
        seen.message = seen.receiving = null;
        return told;
      },
      (error: unknown) => {
        if (seen.receiving === receiving) {
          seen.receiving = null;
          // It brings it along when it comes again; its session may wait for that for an hour.
          message.payload = NOTHING;
        }
        throw error;
      },
    );
    seen.receiving = receiving;
    return receiving;
  }

  async #receive(message: TopicMessage): Promise<Told> {
    const { door, session } = this.#deps;
    const until = door.now() + MAX_TRYING_MS;
    for (let waitMs = FIRST_PAUSE_MS; ; waitMs = Math.min(2 * waitMs, MAX_PAUSE_MS)) {
      try {
        const present = this.#token.present();
        const access = present instanceof Promise ? await present : present;
        const { reason, code, rejected, answer } = await door.topics.receive(access, message);
        door.onReceived({ code });
        if (session.subscriptions.size > 0) this.#tell(message.topic, answer);
        return { reason, code, rejected };
      } catch (error) {
        const refusal = asAppError(error);
        if (refusal === null) this.#failed(error);
        else if (refusal.code === 'UNAUTHENTICATED') this.#unauthorised();
        if (refusal === null || refusal.code === 'UNAUTHENTICATED' || message.isAbandoned()) throw error;
        await this.#waitFor(refusal, waitMs);
        if (this.#stopping.signal.aborted || message.isAbandoned()) throw error;
        if (door.now() > until) {
          this.#deps.end(REASONS.busy, refusal.message);
          throw error;
        }
      }
    }
  }

  async #waitFor({ details }: AppError, waitMs: number): Promise<void> {
    const seconds = details['retryAfterSeconds'];
    const told = typeof seconds === 'number' ? seconds * 1_000 : 0;
    this.#waiting += 1;
    const { signal } = this.#stopping;
    await setTimeout(Math.min(Math.max(waitMs, told), MAX_PAUSE_MS), undefined, { signal }).catch(() => {});
    this.#waiting -= 1;
  }

  #unauthorised(): void {
    this.#deps.end(REASONS.notAuthorised, 'The token of this connection is no longer valid.');
  }

  /** A message without an outcome would hold up all acknowledgements behind it: its client sends it again, later. */
  #failed(error: unknown): void {
    this.#deps.door.log.error({ err: error }, 'internal error: a message of MQTT was not acknowledged');
    this.#deps.end(REASONS.unspecified, 'Internal error.');
  }

  /** Tells the client of an outcome, if it wants to hear of it; nobody else does. */
  #tell(topic: string, answer: string): void {
    const { door, session, isVersion5, write } = this.#deps;
    const outcomeTopic = door.topics.outcomeTopicOf(topic);
    if (outcomeTopic === null || !session.subscriptions.has(outcomeTopic)) return;
    write(
      writePacket(
        { cmd: 'publish', topic: outcomeTopic, payload: answer, qos: 0, dup: false, retain: false },
        isVersion5 ? 5 : 4,
      ),
    );
  }

  #ackOf(type: number, id: number, told: Told): Buffer {
    const { isVersion5, tellsProblems } = this.#deps;
    if (!isVersion5) return acknowledgement(type, id, null);
    return tellsProblems ? acknowledgement(type, id, told) : shortAcknowledgement(type, id, told.reason);
  }
}

/** The refusal of a message that is not given on, as it can never be stored; it is acknowledged, so that it does not come for ever. */
function refusalOf({ topic, payload, isCut }: PublishPacket, maxBytes: number): Told | null {
  if (isCut || payload.length > maxBytes)
    return { reason: REASONS.nothingStorable, code: 'BODY_TOO_LARGE', rejected: 0 };
  if (topic.length > MAX_TOPIC || topic.split('/', MAX_LEVELS + 1).length > MAX_LEVELS)
    return { reason: REASONS.topicInvalid, code: 'INVALID_INPUT', rejected: 0 };
  return null;
}
