import type { LatestMemory } from './latest-memory.ts';
import { SearchMemory, type SearchProgress } from './search-memory.ts';

/** How long a thread searches before others have their turn; by the clock, as readings may be large and disks slow. */
export const SLICE_MS = 50;
/** Where nobody waits who asks for little, or others have their turn between pages. */
export const LONG_SLICE_MS = 1_000;

/** The part that one job has in a search for newest values. */
export class SearchSlice {
  readonly memory: SearchMemory;
  readonly #ms: number;
  #endsAt: number | null = null;

  /** `progress`: of the slice before it. */
  constructor(memory: LatestMemory, ms: number, progress?: SearchProgress) {
    this.memory = new SearchMemory(memory, progress);
    this.#ms = ms;
  }

  /** Whether one more device may be searched: the first always, which begins the slice. */
  begins(): boolean {
    if (this.#endsAt !== null) return !this.isOver();
    this.#endsAt = performance.now() + this.#ms;
    return true;
  }

  isOver(): boolean {
    return this.#endsAt !== null && performance.now() >= this.#endsAt;
  }
}
