import { doneOrLong } from './done-or-long.ts';
import type { Party } from './party.ts';

/** One that takes longer goes on beside the next ones, so that nobody waits for it for long. */
const LONG_MS = 200;

interface Waiting {
  party: Party;
  start: () => void;
}

/**
 * So many works at a time, unless they take long. Of those that wait the next is of the tenant that has fewest running,
 * and of its token that has fewest: whoever asks for one thing does not wait for the many things that others ask for.
 */
export class FairSlots {
  readonly #most: number;
  readonly #running: Party[] = [];
  readonly #waiting: Waiting[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** What `work` gives, begun when there is room for it. */
  async use<T>(party: Party, work: () => Promise<T>): Promise<T> {
    if (this.#running.length < this.#most) this.#running.push(party);
    else await new Promise<void>((start) => this.#waiting.push({ party, start }));
    try {
      return (await doneOrLong(work(), LONG_MS)).result;
    } finally {
      this.#running.splice(this.#running.indexOf(party), 1);
      this.#startNext();
    }
  }

  #startNext(): void {
    if (this.#waiting.length === 0) return;
    const count = (is: (party: Party) => boolean): number => this.#running.filter(is).length;
    const weight = ({ party: { tenant, tokenId } }: Waiting): number =>
      count((other) => other.tenant === tenant) * (this.#most + 1) + count((other) => other.tokenId === tokenId);
    let next = 0;
    this.#waiting.forEach((waiting, at) => {
      if (weight(waiting) < weight(this.#waiting[next]!)) next = at;
    });
    const [{ party, start }] = this.#waiting.splice(next, 1) as [Waiting];
    this.#running.push(party);
    start();
  }
}
