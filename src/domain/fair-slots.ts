import type { Party } from './party.ts';

interface Running {
  party: Party;
  isLong: boolean;
}

interface Waiting {
  running: Running;
  begin: () => void;
}

interface Manner {
  /** What takes longer leaves its room to other tenants, so that nobody waits for it for long. */
  longMs?: number;
  /** Who has waited so long while nothing has ended begins, whatever runs: all would wait for their time-outs in turn. */
  stillMs?: number;
  /** What who has waited that long is told instead. */
  refusal?: () => Error;
}

/**
 * So many works at a time, unless they take long; of one tenant one fewer, and of one token two. Of those that wait the
 * next is of the tenant that has fewest running, and of its token that has fewest, and among equals in turns: whoever asks
 * for one thing does not wait for the many things that others ask for. Work that waits for nothing but a processor waits
 * however long others take.
 */
export class FairSlots {
  readonly #most: number;
  readonly #mostOfTenant: number;
  readonly #mostOfToken: number;
  readonly #manner: Manner;
  readonly #running = new Set<Running>();
  /** In the order of their turns. */
  #waiting: Waiting[] = [];
  /** When something ended last. */
  #aliveAt = 0;

  constructor(most: number, manner: Manner = {}) {
    this.#most = most;
    this.#manner = manner;
    this.#mostOfTenant = Math.max(1, most - 1);
    this.#mostOfToken = Math.max(1, most - 2);
  }

  /** What `work` gives, begun when there is room for it. */
  async use<T>(party: Party, work: () => Promise<T>): Promise<T> {
    const taken = this.take(party);
    const end = taken instanceof Promise ? await taken : taken;
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** What ends it, when there is room. */
  take(party: Party): (() => void) | Promise<() => void> {
    const running = { party, isLong: false };
    if (!this.#hasRoom(party)) return this.#turn(running).then(() => this.#end(running));
    this.#running.add(running);
    return this.#end(running);
  }

  #end(running: Running): () => void {
    const { longMs } = this.#manner;
    const timer = longMs === undefined ? undefined : setTimeout(() => this.#isLong(running), longMs);
    return () => {
      clearTimeout(timer);
      if (!this.#running.delete(running)) return;
      this.#aliveAt = performance.now();
      this.#startNext();
    };
  }

  #turn(running: Running): Promise<void> {
    const { stillMs, refusal } = this.#manner;
    const since = performance.now();
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const leave = (): void => {
        clearTimeout(timer);
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
      };
      const begin = (): void => {
        leave();
        // At once: who comes before it goes on would take its place.
        this.#running.add(running);
        this.#passOn(running.party);
        resolve();
      };
      const waiting = { running, begin };
      this.#waiting.push(waiting);
      if (stillMs === undefined) return;
      const look = (): void => {
        const leftMs = Math.max(since, this.#aliveAt) + stillMs - performance.now();
        if (leftMs > 0) timer = setTimeout(look, Math.ceil(leftMs));
        else if (refusal === undefined) begin();
        else {
          leave();
          reject(refusal());
        }
      };
      look();
    });
  }

  /** It counts for its tenant and token alone. */
  #isLong(running: Running): void {
    running.isLong = true;
    this.#startNext();
  }

  #hasRoom({ tokenId, tenant }: Party): boolean {
    let [all, ofTenant, ofToken] = [0, 0, 0];
    for (const { party, isLong } of this.#running) {
      if (!isLong) all += 1;
      if (party.tenant === tenant) ofTenant += 1;
      if (party.tokenId === tokenId) ofToken += 1;
    }
    return all < this.#most && ofTenant < this.#mostOfTenant && ofToken < this.#mostOfToken;
  }

  #startNext(): void {
    let next: Waiting | null = null;
    for (const waiting of this.#waiting)
      if (this.#hasRoom(waiting.running.party) && (next === null || this.#comesBefore(waiting, next))) next = waiting;
    next?.begin();
  }

  #comesBefore({ running: { party: one } }: Waiting, { running: { party: other } }: Waiting): boolean {
    const more = this.#ofTenant(other.tenant) - this.#ofTenant(one.tenant);
    return more > 0 || (more === 0 && this.#ofToken(one.tokenId) < this.#ofToken(other.tokenId));
  }

  /** The others of the tenant come after those of all others, and the others of the token after its other tokens. */
  #passOn({ tokenId, tenant }: Party): void {
    const place = ({ running: { party } }: Waiting): number =>
      party.tenant !== tenant ? 0 : party.tokenId !== tokenId ? 1 : 2;
    this.#waiting.sort((one, other) => place(one) - place(other));
  }

  #ofTenant(name: string): number {
    let count = 0;
    for (const { party } of this.#running) if (party.tenant === name) count += 1;
    return count;
  }

  #ofToken(id: string): number {
    let count = 0;
    for (const { party } of this.#running) if (party.tokenId === id) count += 1;
    return count;
  }
}
