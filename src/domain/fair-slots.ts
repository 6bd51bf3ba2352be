import { doneOrLong } from './done-or-long.ts';
import type { Party } from './party.ts';

/** One that takes longer goes on beside the next ones, so that nobody waits for it for long. */
const LONG_MS = 1_000;
/** Who has waited so long begins, whatever runs: were the database away, all would wait for their time-outs in turn. */
const PATIENCE_MS = 2_000;

interface Waiting {
  party: Party;
  start: () => void;
}

/**
 * So many works at a time, unless they take long; of one tenant one fewer, and of one token two. Of those that wait the
 * next is of the tenant that has fewest running, and of its token that has fewest: whoever asks for one thing does not
 * wait for the many things that others ask for.
 */
export class FairSlots {
  readonly #most: number;
  readonly #mostOfTenant: number;
  readonly #mostOfToken: number;
  readonly #isPatient: boolean;
  readonly #running: Party[] = [];
  #waiting: Waiting[] = [];

  /**
   * `isPatient`: for work that waits for nothing but a processor, which has no time for more of it: it waits however long
   * others take.
   */
  constructor(most: number, { isPatient = false } = {}) {
    this.#most = most;
    this.#isPatient = isPatient;
    this.#mostOfTenant = Math.max(1, most - 1);
    this.#mostOfToken = Math.max(1, most - 2);
  }

  /** What `work` gives, begun when there is room for it. */
  async use<T>(party: Party, work: () => Promise<T>): Promise<T> {
    if (this.#hasRoom(party)) this.#running.push(party);
    else await this.#turn(party);
    try {
      if (this.#isPatient) return await work();
      return (await doneOrLong(work(), LONG_MS)).result;
    } finally {
      this.#running.splice(this.#running.indexOf(party), 1);
      this.#startNext();
    }
  }

  #turn(party: Party): Promise<void> {
    return new Promise((resolve) => {
      const start = (): void => {
        if (timer !== null) clearTimeout(timer);
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        // At once: who comes before it goes on would take its place.
        this.#running.push(party);
        resolve();
      };
      const timer = this.#isPatient ? null : setTimeout(start, PATIENCE_MS);
      const waiting = { party, start };
      this.#waiting.push(waiting);
    });
  }

  #hasRoom({ tokenId, tenant }: Party): boolean {
    return (
      this.#running.length < this.#most &&
      this.#ofTenant(tenant) < this.#mostOfTenant &&
      this.#ofToken(tokenId) < this.#mostOfToken
    );
  }

  #startNext(): void {
    let next: Waiting | null = null;
    for (const waiting of this.#waiting)
      if (this.#hasRoom(waiting.party) && (next === null || this.#comesBefore(waiting.party, next.party)))
        next = waiting;
    next?.start();
  }

  #comesBefore(one: Party, other: Party): boolean {
    const more = this.#ofTenant(other.tenant) - this.#ofTenant(one.tenant);
    return more > 0 || (more === 0 && this.#ofToken(one.tokenId) < this.#ofToken(other.tokenId));
  }

  #ofTenant(name: string): number {
    return this.#running.filter(({ tenant }) => tenant === name).length;
  }

  #ofToken(id: string): number {
    return this.#running.filter(({ tokenId }) => tokenId === id).length;
  }
}
