import type { LatestMemory } from './latest-memory.ts';
import { SearchMemory, type SearchProgress } from './search-memory.ts';

/** Milliseconds of searching before others have their turn; not a count, as readings may be large and disks slow. */
export const SLICE_MS = 50;
/** The same where no short read waits, or others have their turn between pages. */
export const LONG_SLICE_MS = 1_000;

/** The part that one job has in a search for newest values. */
export class SearchSlice {
  readonly memory: SearchMemory;
  readonly #ms: number;
  #begunAt: number | null = null;

  /** `progress`: that of the slice before it. */
  constructor(memory: LatestMemory, ms: number, progress?: SearchProgress) {
    this.memory = new SearchMemory(memory, progress);
    this.#ms = ms;
  }

  /** Whether one more device may be searched: the first always, which begins the slice. */
  begins(): boolean {
    if (this.#begunAt !== null) return !this.isOver();
    this.#begunAt = performance.now();
    return true;
  }

  /** Milliseconds since it began; 0: nothing had to be searched. */
  get searchedMs(): number {
    return this.#begunAt === null ? 0 : performance.now() - this.#begunAt;
  }

  isOver(): boolean {
    return this.#begunAt !== null && this.searchedMs >= this.#ms;
  }
}
