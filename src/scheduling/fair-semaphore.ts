import { RoundRobinQueue } from './round-robin-queue.ts';
import type { Caller } from './caller.ts';

interface Running {
  party: Caller;
  isLong: boolean;
}

/** Ends it, once; `inVain`: it came to nothing, which is no sign that anything goes on. */
export type End = (outcome?: { inVain: boolean }) => void;

interface Waiting {
  begin: () => void;
  /** It has begun, or was refused. */
  isOver: boolean;
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
export class FairSemaphore {
  readonly #most: number;
  readonly #mostOfTenant: number;
  readonly #mostOfToken: number;
  readonly #manner: Manner;
  readonly #running = new Set<Running>();
  readonly #waiting = new RoundRobinQueue<Waiting>();
  /** When something ended last. */
  #aliveAt = 0;

  constructor(most: number, manner: Manner = {}) {
    this.#most = most;
    this.#manner = manner;
    this.#mostOfTenant = Math.max(1, most - 1);
    this.#mostOfToken = Math.max(1, most - 2);
  }

  /** What `work` gives, begun when there is room for it. */
  async use<T>(party: Caller, work: () => Promise<T>): Promise<T> {
    const taken = this.take(party);
    const end = taken instanceof Promise ? await taken : taken;
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** What ends it, when there is room. */
  take(party: Caller): End | Promise<End> {
    const running = { party, isLong: false };
    if (!this.#hasRoom(party)) return this.#turn(running).then(() => this.#end(running));
    this.#running.add(running);
    return this.#end(running);
  }

  #end(running: Running): End {
    const { longMs } = this.#manner;
    const timer = longMs === undefined ? undefined : setTimeout(() => this.#isLong(running), longMs);
    return ({ inVain } = { inVain: false }) => {
      clearTimeout(timer);
      if (!this.#running.delete(running)) return;
      if (!inVain) this.#aliveAt = performance.now();
      this.#startNext();
    };
  }

  #turn(running: Running): Promise<void> {
    const { stillMs, refusal } = this.#manner;
    const since = performance.now();
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const waiting = {
        isOver: false,
        begin: (): void => {
          waiting.isOver = true;
          clearTimeout(timer);
          // At once: who comes before it goes on would take its place.
          this.#running.add(running);
          resolve();
        },
      };
      this.#waiting.add(running.party, waiting);
      if (stillMs === undefined) return;
      const look = (): void => {
        const leftMs = Math.max(since, this.#aliveAt) + stillMs - performance.now();
        if (leftMs > 0) timer = setTimeout(look, Math.ceil(leftMs));
        else if (refusal === undefined) waiting.begin();
        else {
          waiting.isOver = true;
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

  #hasRoom({ tokenId, tenant }: Caller): boolean {
    return this.#isRoom() && this.#ofTenant(tenant) < Infinity && this.#ofToken(tokenId) < Infinity;
  }

  #startNext(): void {
    while (this.#isRoom()) {
      const next = this.#waiting.takeLeast(this.#ofTenant, this.#ofToken);
      if (next === undefined) return;
      if (!next.isOver) next.begin();
    }
  }

  #isRoom(): boolean {
    let all = 0;
    for (const { isLong } of this.#running) if (!isLong) all += 1;
    return all < this.#most;
  }

  /** How many it has running; Infinity: as many as it may. */
  readonly #ofTenant = (name: string): number => {
    let count = 0;
    for (const { party } of this.#running) if (party.tenant === name) count += 1;
    return count < this.#mostOfTenant ? count : Infinity;
  };

  readonly #ofToken = (id: string): number => {
    let count = 0;
    for (const { party } of this.#running) if (party.tokenId === id) count += 1;
    return count < this.#mostOfToken ? count : Infinity;
  };
}
