import { HeldWork } from './held-work.ts';
import { Senders } from './senders.ts';

/** In bytes: some values of one device, which nobody waits with. */
const LITTLE = 1_024;
/** To read what is refused, and to say why. */
const BYTES_PER_MS = 16_384;
const BURST_MS = 300;

/** A body that was sent: to whom, and by which token or to which product's webhook. */
interface Sent {
  tenant: string;
  source: string;
  bytes: number;
}

/**
 * What devices and platforms send and the server refuses: it has to be read, and is worth nothing. Who sends much of it
 * waits while other tenants send (CONTRACT 7, shares); what is stored is not held against anybody, once it is, nor what
 * usually comes with it (`unexplainedPart`). Sources of a tenant take turns: who knows nothing but a webhook's address
 * does not stand in the way of its devices.
 */
export class RefusedWork {
  readonly #senders: Senders;
  readonly #held: HeldWork;

  constructor(senders: Senders = new Senders()) {
    this.#senders = senders;
    this.#held = new HeldWork(senders, {
      burstMs: BURST_MS,
      tooMuch:
        'Most of what this workspace sends is refused, and waits while others send. Look at the answers, send less.',
    });
  }

  /**
   * What `work` on a body of the tenant gives, begun when it may be; the part of its bytes that was in vain is held against
   * the tenant, all when it fails. Throws what `work` throws, and OVERLOADED when too many of a tenant wait whose
   * bodies are mostly refused.
   */
  watch<T>({ tenant, source, bytes }: Sent, work: () => Promise<T>, partOf: (result: T) => number): Promise<T> {
    const ms = bytes / BYTES_PER_MS;
    return this.#senders.meanwhile(tenant, () =>
      bytes > LITTLE ? this.#held.run({ tenant, source, ms }, work, (result) => ms * partOf(result)) : work(),
    );
  }
}

/** Which part of a body is more than comes with what was stored of it: blanks, or keys that nobody reads. */
export function unexplainedPart(bytes: number, explained: number): number {
  return bytes > explained ? 1 - explained / bytes : 0;
}
