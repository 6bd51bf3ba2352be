import { LRUCache } from 'lru-cache';
import type { TopicMessage } from './topic-message.ts';
import type { Told } from './packets.ts';

/** A connection, which waits for what becomes of its messages. */
export interface Holder {
  /** Whether it is gone without a word. */
  readonly isLost: boolean;
  /** Another connection of the same client takes its place. */
  takeOver: () => void;
}

/** A message of QoS 1 or 2 by its packet id, from when it comes until its client knows of its outcome. */
export interface SeenMessage {
  readonly qos: 1 | 2;
  /** Tells it apart from another one with the same packet id. */
  readonly digest: string;
  /** The connection that it came by last. */
  holder: Holder;
  /** null: its outcome is known. */
  message: TopicMessage | null;
  /** Its being received, while that lasts. */
  receiving: Promise<Told> | null;
  told: Told | null;
  /** When its outcome was known, or acknowledged last, in ms UTC. */
  toldAt: number;
  /** Whether it came again after that without saying so. */
  cameUnsaid: boolean;
}

/** A message of QoS 1 or 2 as it comes; `isAgain`: its client says that it has sent it before. */
interface Coming {
  id: number;
  digest: string;
  isAgain: boolean;
  /** The connection that it comes by. */
  by: Holder;
  /** In ms UTC. */
  at: number;
}

/** Maximum time between an acknowledgement and the end of a connection, in which it may have been lost on the way. */
const LOST_WITHIN_MS = 10_000;
/**
 * Maximum time in which a message comes again without saying so. One that comes later is another one: a device that
 * sleeps without a goodbye sends an equal value under the same packet id each time that it wakes.
 */
const UNSAID_WITHIN_MS = 30_000;
/** Maximum acknowledged messages per session that are remembered: a client has no more of them unacknowledged. */
const MAX_TOLD = 32;
/** Maximum messages per session that are under way, or of QoS 2 and not released; beyond it the oldest counts as released. */
const MAX_OPEN = 200;
/** Maximum messages and topics that all sessions without a connection remember, each one for itself too, and for how long. */
const [MAX_AWAY, AWAY_MS] = [100_000, 3_600_000];

/** Seconds for which a session without a connection is kept. */
export const AWAY_SECONDS = AWAY_MS / 1_000;

interface ToldMessage {
  seen: SeenMessage;
  by: Holder;
}

/**
 * A client by its id, within its token: the packet ids that are under way, so that a message that comes again is stored
 * once. Clients send again what was not acknowledged when their connection broke, some of them without saying so.
 */
export class Session {
  /** Topics of outcomes that it wants to hear. */
  readonly subscriptions = new Set<string>();
  /** Whether it goes on with the next connection (MQTT 3.1.1: not clean). */
  persists = false;
  readonly #open = new Map<number, SeenMessage>();
  /** By packet id, oldest first. */
  readonly #told = new Map<number, ToldMessage>();

  get isEmpty(): boolean {
    return !this.persists && this.size === 0;
  }

  /** Messages that it remembers. */
  get size(): number {
    return this.#open.size + this.#told.size;
  }

  /** The message that this one repeats, or null. */
  find(coming: Coming): SeenMessage | null {
    const { id, digest, by } = coming;
    const open = this.#open.get(id);
    // An id of QoS 2 is taken until it is released.
    if (open !== undefined) return open.digest === digest && (open.qos === 2 || isRepeat(open, coming)) ? open : null;
    const told = this.#told.get(id);
    // Acknowledged on this very connection: the id is free, and the message another one.
    if (told === undefined || told.by === by || told.seen.digest !== digest || !isRepeat(told.seen, coming))
      return null;
    this.#told.delete(id);
    this.#open.set(id, told.seen);
    return told.seen;
  }

  add(id: number, seen: SeenMessage): void {
    this.#told.delete(id);
    this.#open.set(id, seen);
    if (this.#open.size <= MAX_OPEN) return;
    // One that nobody works on was given up with its connection, and is as good as new when it comes again.
    for (const [other, { told, receiving }] of this.#open)
      if (other !== id && (told !== null || receiving === null)) return void this.#open.delete(other);
  }

  /** The acknowledgement was written: with QoS 1, and where it refuses, it is the last word. */
  acknowledged(id: number, seen: SeenMessage, by: Holder, at: number): void {
    if (this.#open.get(id) !== seen || (seen.qos === 2 && (seen.told?.reason ?? 0) < 0x80)) return;
    this.#open.delete(id);
    this.#told.delete(id);
    seen.toldAt = at;
    this.#told.set(id, { seen, by });
    if (this.#told.size > MAX_TOLD) this.#told.delete(this.#told.keys().next().value ?? 0);
  }

  /** A message of QoS 2 is released: its id is free. */
  release(id: number): void {
    const open = this.#open.get(id);
    if (open !== undefined && open.qos === 2 && open.told !== null) this.#open.delete(id);
  }

  /** A client begins anew: it knows of no message that it has not released. */
  restart(): void {
    this.subscriptions.clear();
    for (const [id, { qos, told }] of this.#open) if (qos === 2 && told !== null) this.#open.delete(id);
  }

  /** Forgets what was acknowledged so long ago that it has arrived. `since`: when the present connection began. */
  forget(now: number, present: Holder, since: number): void {
    for (const [id, { seen, by }] of this.#told)
      if (seen.toldAt + LOST_WITHIN_MS < now && (by === present || since + LOST_WITHIN_MS < now)) this.#told.delete(id);
  }

  /** The client has said goodbye: it has got every acknowledgement. */
  forgetAll(): void {
    this.#told.clear();
  }
}

/** Whether an equal message with the same packet id is this one again. */
function isRepeat(seen: SeenMessage, { isAgain, at }: Coming): boolean {
  if (isAgain || seen.told === null) return true;
  const isSoon = !seen.cameUnsaid && at <= seen.toldAt + UNSAID_WITHIN_MS;
  seen.cameUnsaid = true;
  return isSoon;
}

/** Sessions without a connection, and the connection of each that has one. */
export class Sessions {
  readonly #away: LRUCache<string, Session>;
  readonly #present = new Map<string, { connection: Holder; session: Session }>();

  constructor() {
    this.#away = new LRUCache({ maxSize: MAX_AWAY, sizeCalculation: sizeOf, ttl: AWAY_MS });
  }

  /**
   * Gives the client's session to a connection, from the one that had it until now. `isPresent`: whether the session goes
   * on.
   */
  take(client: string, connection: Holder, isClean: boolean): { session: Session; isPresent: boolean } {
    const before = this.#present.get(client);
    const known = before?.session ?? this.#away.get(client);
    this.#away.delete(client);
    const session = known ?? new Session();
    const isPresent = !isClean && known?.persists === true;
    if (!isPresent) session.restart();
    this.#present.set(client, { connection, session });
    before?.connection.takeOver();
    return { session, isPresent };
  }

  /** The connection has ended, unless another one has its session by now. `keepMs`: see `AWAY_SECONDS`. */
  leave(client: string, connection: Holder, keepMs = AWAY_MS): void {
    const present = this.#present.get(client);
    if (present?.connection !== connection) return;
    this.#present.delete(client);
    if (!present.session.isEmpty) this.#away.set(client, present.session, { ttl: Math.min(keepMs, AWAY_MS) });
  }
}

function sizeOf({ size, subscriptions }: Session): number {
  return size + subscriptions.size + 1;
}
