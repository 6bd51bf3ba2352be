import { PenaltyBucket } from './penalty-bucket.ts';
import { ActiveTenants } from './active-tenants.ts';

/** In bytes: some values of one device, which nobody waits with. */
const LITTLE = 1_024;
/** To read what is refused, and to say why of each entry: of ten thousand the answer has a megabyte. */
const BYTES_PER_MS = 16_384;
const ENTRIES_PER_MS = 800;
const BURST_MS = 300;

/** A body that was sent: to whom, and by which token or to which product's webhook. */
interface Sent {
  tenant: string;
  source: string;
  bytes: number;
  /** So many entries it has at most that may be refused each. */
  mostEntries?: number;
  /** Whether nobody waits for the answer any more. */
  isGone?: () => boolean;
}

/** What was sent in vain: a part of the bytes, from 0 to 1, and entries, each of which was told why. */
export interface InVain {
  part: number;
  entries: number;
}

/**
 * What devices and platforms send and the server refuses: it has to be read, and is worth nothing. Who sends much of it
 * waits while other tenants send (CONTRACT 7, shares); what is stored is not held against anybody, once it is, nor what
 * usually comes with it (`unexplainedPart`). Who knows nothing but a webhook's address does not stand in the way of the
 * other devices of its workspace (`PenaltyBucket`).
 */
export class InvalidInputThrottle {
  readonly #senders: ActiveTenants;
  readonly #held: PenaltyBucket;

  constructor(senders: ActiveTenants = new ActiveTenants()) {
    this.#senders = senders;
    this.#held = new PenaltyBucket(senders, {
      burstMs: BURST_MS,
      tooMuch:
        'Most of what this workspace sends is refused, and waits while others send. Look at the answers, send less.',
    });
  }

  /**
   * What `work` on a body of the tenant gives, begun when it may be; what was in vain of it is held against the tenant,
   * all when it fails. Throws what `work` throws, and OVERLOADED when too many of a tenant wait whose bodies are mostly
   * refused.
   */
  watch<T>(
    { tenant, source, bytes, mostEntries = 0, isGone }: Sent,
    work: () => Promise<T>,
    inVain: (result: T) => InVain,
  ): Promise<T> {
    if (bytes <= LITTLE) return this.#senders.meanwhile(tenant, work);
    const ms = costOf(bytes, { part: 1, entries: mostEntries });
    return this.#senders.meanwhile(tenant, () =>
      this.#held.run({ tenant, source, ms, isGone }, work, (result) => costOf(bytes, inVain(result))),
    );
  }
}

/** In milliseconds. */
function costOf(bytes: number, { part, entries }: InVain): number {
  return (bytes * part) / BYTES_PER_MS + entries / ENTRIES_PER_MS;
}

/** Which part of a body is more than comes with what was stored of it: blanks, or keys that nobody reads. */
export function unexplainedPart(bytes: number, explained: number): number {
  return bytes > explained ? 1 - explained / bytes : 0;
}
