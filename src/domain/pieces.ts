import { AppError } from '../errors.ts';
import { Slots } from './slots.ts';

/** One that takes longer goes on beside the next ones of others, so that none of them waits for it for long. */
const LONG_MS = 2_000;

const oneAtATime = (): Slots<null> => new Slots(1, () => null);

interface Own {
  slot: Slots<null>;
  unfinished: number;
}

/**
 * What the database does in the background or for those who ask for much: one piece at a time, of each caller and,
 * unless it takes long, of all of them, who wait for each other in the order in which they come.
 */
export class Pieces {
  readonly #slot = oneAtATime();
  readonly #own = new Map<string, Own>();
  readonly #maxWaiting: number;

  /** `maxWaiting`: of one caller. */
  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /** What `work` gives, begun after `turn` and when there is room. Throws OVERLOADED when too many of the caller wait. */
  async one<T>(caller: string, work: () => Promise<T>, turn: () => Promise<void> = async () => {}): Promise<T> {
    let own = this.#own.get(caller);
    if (own === undefined) this.#own.set(caller, (own = { slot: oneAtATime(), unfinished: 0 }));
    if (own.unfinished >= this.#maxWaiting)
      throw new AppError('OVERLOADED', 'Too much of this token is waiting for the database; send less at once.');
    own.unfinished += 1;
    try {
      return await own.slot.use(async () => {
        await turn();
        return (await this.#slot.use(() => doneOrLong(work()))).result;
      });
    } finally {
      own.unfinished -= 1;
      if (own.unfinished === 0) this.#own.delete(caller);
    }
  }
}

/** Resolves when it is done or takes long; `result`: what it gives or throws. */
function doneOrLong<T>(result: Promise<T>): Promise<{ result: Promise<T> }> {
  return new Promise((resolve) => {
    const tell = (): void => {
      clearTimeout(timer);
      resolve({ result });
    };
    const timer = setTimeout(tell, LONG_MS);
    result.then(tell, tell);
  });
}
