import type { EntityManager } from '@mikro-orm/sql';
import type { Database } from '../ports/database.ts';
import type { Transmitter } from '../ports/transmitter.ts';
import { DeliveryExchange } from './delivery-exchange.ts';
import { noteHealth, type SwitchedOff } from './endpoint-health.ts';
import { readRecipientsOf, type Recipient } from './recipients.ts';
import { type FollowerDeps, RecordedFollower } from './recorded-follower.ts';
import { RegularLook } from './regular-look.ts';
import { isGone, type Message, transmit } from './transmit.ts';

interface RecordedSenderDeps extends Omit<FollowerDeps, 'send'> {
  database: Database;
  transmitter: Transmitter;
  tellAudit: (em: EntityManager, off: SwitchedOff) => Promise<void>;
  onTried: (outcome: 'delivered' | 'failed') => void;
  onSwitchedOff: (off: SwitchedOff) => void;
}

/** Sends `measurements.recorded`: a follower for each endpoint that wants it, on one node at a time. */
export class RecordedSender {
  readonly #deps: RecordedSenderDeps;
  readonly #exchange: DeliveryExchange;
  readonly #followers = new Map<string, RecordedFollower>();
  readonly #looks: RegularLook;

  constructor(deps: RecordedSenderDeps) {
    this.#deps = deps;
    this.#looks = new RegularLook(() => this.#look(), deps.onError);
    this.#exchange = new DeliveryExchange(deps.database, '');
  }

  start(): void {
    this.#looks.start();
  }

  /** Looks now: an endpoint was made or changed. */
  wake(): void {
    this.#looks.wake();
  }

  async stop(): Promise<void> {
    await this.#looks.stop();
    const names = [...this.#followers.keys()];
    // A call in progress is not waited for: it is sent again, by this or another node.
    for (const follower of this.#followers.values()) void follower.stop();
    for (const name of names) await this.#deps.leases.giveUp(name).catch(this.#deps.onError);
  }

  async #look(): Promise<void> {
    const { database, leases } = this.#deps;
    const recipients = await readRecipientsOf(database.read(), 'measurements.recorded');
    const wanted = new Map(recipients.map((recipient) => [`measurements ${recipient.key}`, recipient]));
    for (const [name, follower] of this.#followers)
      if (!wanted.has(name)) {
        this.#followers.delete(name);
        void follower.stop();
      }
    for (const [name, recipient] of wanted) {
      const place = await leases.take(name);
      const follower = this.#followers.get(name);
      if (place === null) {
        this.#followers.delete(name);
        void follower?.stop();
      } else if (follower !== undefined && !follower.isOver) follower.recipient = recipient;
      else
        this.#followers.set(
          name,
          new RecordedFollower(name, recipient, place, {
            ...this.#deps,
            send: (message) => this.#send(recipient, message),
          }),
        );
    }
  }

  async #send({ key }: Recipient, message: Message): Promise<{ isDone: boolean; retryAfterMs: number | null }> {
    const { database, transmitter, now, tellAudit, onTried, onSwitchedOff } = this.#deps;
    const [target] = await this.#exchange.targets(database.read(), [key], now());
    // Deleted or off: the next look stops the follower.
    if (target === undefined || !target.enabled) return { isDone: false, retryAfterMs: null };
    const { result } = await transmit(transmitter, target, message, now);
    onTried(result.isDone ? 'delivered' : 'failed');
    if (!result.isDone || target.failingSince !== null) {
      const health = { hasSucceeded: result.isDone, hasFailed: !result.isDone, isGone: isGone(result) };
      const off = await database.write(async (em) => {
        const switchedOff = await noteHealth(em, target, health, now());
        if (switchedOff !== null) await tellAudit(em, switchedOff);
        return switchedOff;
      });
      if (off !== null) onSwitchedOff(off);
    }
    return result;
  }
}
