import { Lane } from './lane.ts';
import type { LaneLimits } from './lanes.ts';
import type { Caller } from './caller.ts';

/** Lane for heavy or background work in the database: one piece at a time per token, slow ones included. */
export class BackgroundLane {
  readonly #perToken: Lane;
  readonly #pieces: Lane;

  constructor({ maxUnfinished = Infinity, refusal = '', ...pieces }: LaneLimits) {
    this.#perToken = new Lane({ name: pieces.name, perToken: 1, maxUnfinished, refusal });
    this.#pieces = new Lane({ ...pieces, slowIsFree: true });
  }

  /**
   * Runs `work` after `turn` when there is capacity, and returns its result. Throws OVERLOADED when too much of the
   * token waits.
   */
  run<T>(caller: Caller, work: () => Promise<T>, turn: () => Promise<void> = async () => {}): Promise<T> {
    return this.#perToken.use(caller, async () => {
      await turn();
      return this.#pieces.use(caller, work);
    });
  }
}
