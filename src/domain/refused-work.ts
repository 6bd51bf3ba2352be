import { AppError } from '../errors.ts';
import { LruMap } from './lru-map.ts';

/** In bytes: some values of one device, which nobody waits with. */
const LITTLE = 1_024;
/** To read what is refused, and to say why. */
const BYTES_PER_MS = 16_384;
/** What a tenant may have refused, or under way, before it has to wait for others, and the most that is held against it. */
const BURST_MS = 300;
const MAX_DEBT_MS = 600;
/** How much of the time what is refused gets while others are there. */
const SHARE = 0.2;
/** Whoever sent so lately is still there. */
const PRESENT_MS = 250;
const LOOK_AGAIN_MS = 50;
/** Of one source while much of its tenant is refused; bodies are kept in memory meanwhile. */
const MAX_WAITING = 50;
const MAX_TENANTS = 2_000;

/** A body that was sent: to whom, and by which token or to which product's webhook. */
interface Sent {
  tenant: string;
  source: string;
  bytes: number;
}

interface Waiting {
  ms: number;
  begin: () => void;
}

interface Sender {
  tenant: string;
  /** For what was refused and is not yet forgotten, as of `at`. */
  debtMs: number;
  at: number;
  /** What is being worked on would count so much, if all of it were refused. */
  underWayMs: number;
  /** By source; the next one first. */
  waiting: Map<string, Waiting[]>;
  timer: NodeJS.Timeout | null;
}

/**
 * What devices and platforms send and the server refuses: it has to be read, and is worth nothing. Who sends much of it
 * waits while other tenants send (CONTRACT 7, shares); what is stored is not held against anybody, once it is. Sources of
 * a tenant take turns: who knows nothing but a webhook's address does not stand in the way of its devices.
 */
export class RefusedWork {
  readonly #now: () => number;
  readonly #senders = new LruMap<string, Sender>({ most: MAX_TENANTS });
  /** Bodies of each tenant that are being worked on, or wait. */
  readonly #present = new Map<string, number>();
  /** Who sent last, and who last of all others. */
  #last = { tenant: '', at: Number.NEGATIVE_INFINITY };
  #other = { tenant: '', at: Number.NEGATIVE_INFINITY };

  /** `now`: milliseconds that never go back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * What `work` on a body of the tenant gives, begun when it may be; the part of its bytes that is refused is held
   * against the tenant, all when it fails. Throws what `work` throws, and OVERLOADED when too many of a tenant wait whose
   * bodies are mostly refused.
   */
  async watch<T>(sent: Sent, work: () => Promise<T>, partOf: (result: T) => number): Promise<T> {
    const { tenant, bytes } = sent;
    this.#saw(tenant);
    this.#present.set(tenant, (this.#present.get(tenant) ?? 0) + 1);
    try {
      return await (bytes > LITTLE ? this.#watch(sent, work, partOf) : work());
    } finally {
      const left = this.#present.get(tenant)! - 1;
      if (left > 0) this.#present.set(tenant, left);
      else this.#present.delete(tenant);
    }
  }

  async #watch<T>({ tenant, source, bytes }: Sent, work: () => Promise<T>, partOf: (result: T) => number): Promise<T> {
    const sender = this.#senderOf(tenant);
    const ms = bytes / BYTES_PER_MS;
    if (sender.waiting.size > 0 || !this.#mayBegin(sender, ms)) await this.#turn(sender, source, ms);
    else sender.underWayMs += ms;
    let part = 0;
    try {
      const result = await work();
      part = partOf(result);
      return result;
    } catch (error) {
      if (error instanceof AppError && error.code !== 'OVERLOADED' && error.code !== 'UNAVAILABLE') part = 1;
      throw error;
    } finally {
      sender.underWayMs -= ms;
      sender.debtMs = Math.min(MAX_DEBT_MS, this.#debt(sender) + ms * part);
      sender.at = this.#now();
      this.#beginNext(sender);
    }
  }

  /**
   * Beside others as much as would be its burst, if all of it were refused, and always one. Alone everything; but what has
   * waited goes on a burst at a time: others may come back, and would stand behind all of it.
   */
  #mayBegin(sender: Sender, ms: number, hasWaited = false): boolean {
    const { tenant, underWayMs } = sender;
    const debtMs = this.#debt(sender);
    if (debtMs <= BURST_MS && (underWayMs === 0 || debtMs + underWayMs + ms <= BURST_MS)) return true;
    if (hasWaited && underWayMs > 0 && underWayMs + ms > BURST_MS) return false;
    const other = this.#last.tenant === tenant ? this.#other : this.#last;
    return this.#present.size <= 1 && other.at <= this.#now() - PRESENT_MS;
  }

  #turn(sender: Sender, source: string, ms: number): Promise<void> {
    const line = sender.waiting.get(source) ?? [];
    if (line.length >= MAX_WAITING && this.#debt(sender) > BURST_MS)
      throw new AppError(
        'OVERLOADED',
        'Most of what this workspace sends is refused, and waits while others send. Look at the answers, send less.',
        { details: { retryAfterSeconds: 5 } },
      );
    return new Promise((begin) => {
      line.push({ ms, begin });
      sender.waiting.set(source, line);
      this.#beginNext(sender);
    });
  }

  #beginNext(sender: Sender): void {
    const { waiting } = sender;
    for (const [source, line] of waiting) {
      const { ms, begin } = line[0]!;
      if (!this.#mayBegin(sender, ms, true)) break;
      line.shift();
      // Behind all others, and looked at again in this loop.
      waiting.delete(source);
      if (line.length > 0) waiting.set(source, line);
      sender.underWayMs += ms;
      begin();
    }
    if (waiting.size > 0)
      sender.timer ??= setTimeout(() => {
        sender.timer = null;
        this.#beginNext(sender);
      }, LOOK_AGAIN_MS).unref();
  }

  #senderOf(tenant: string): Sender {
    let sender = this.#senders.get(tenant);
    if (sender === undefined) {
      sender = { tenant, debtMs: 0, at: this.#now(), underWayMs: 0, waiting: new Map(), timer: null };
      this.#senders.set(tenant, sender);
    }
    return sender;
  }

  #debt({ debtMs, at }: Sender): number {
    return Math.max(0, debtMs - (this.#now() - at) * SHARE);
  }

  #saw(tenant: string): void {
    if (this.#last.tenant !== tenant) [this.#last, this.#other] = [this.#other, this.#last];
    this.#last.tenant = tenant;
    this.#last.at = this.#now();
  }
}
