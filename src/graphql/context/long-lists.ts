import { giveWay } from '../../domain/give-way.ts';
import type { Promised } from './promised.ts';
import type { WorkBudget } from './work-budget.ts';

/** A list of so many costs what its price says. */
const FEW = 20;
/** As many are answered in one turn of the event loop: with all that can be asked of each they take 10 ms. */
const AT_ONCE = 500;
/** What one takes of the budget. */
const PART_BYTES = 100;

/** Lists that can be hundreds of times in one answer, and are long then: few go on in one turn of the event loop. */
export class LongLists {
  #last: Promise<unknown> = Promise.resolve();
  #parts = 0;

  /** The list, when it is its turn. */
  inTurn<Part>(list: readonly Part[], budget: WorkBudget): Promised<Part[]> {
    if (list.length <= FEW) return list as Part[];
    const turn = this.#last.then(async () => {
      if (this.#parts + list.length > AT_ONCE) {
        await giveWay();
        this.#parts = 0;
      }
      budget.take(list.length * PART_BYTES);
      this.#parts += list.length;
      return list as Part[];
    });
    this.#last = turn.catch(() => {});
    return turn;
  }
}
