import { EventLoopQueue } from '../../scheduling/event-loop-queue.ts';
import type { GraphqlContext } from './graphql-context.ts';
import { type Promised, whenKnown } from './promised.ts';
import type { WorkBudget } from './work-budget.ts';

/** A list of so many costs what its price says. */
const FEW = 20;
/** What one takes of the budget. */
const PART_BYTES = 100;
/** Whoever has loaded no more, rows and lists, is answered at once. */
const LITTLE_BYTES = 32_768;
/** With all that can be asked of each: about 250 are answered in one turn of the event loop, or one list of 500. */
const PART_MS = 0.02;
const GIVES_WAY_AFTER_MS = 5;

/** Lists that can be hundreds of times in one answer, and are long then: few go on in one turn of the event loop. */
export class LongLists {
  readonly #turns = new EventLoopQueue(GIVES_WAY_AFTER_MS);

  /** What `read` finds, once for all parts of the operation that ask for a list of that name, when it is its turn. */
  once<Part>(
    { loaders, budget }: Pick<GraphqlContext, 'loaders' | 'budget'>,
    name: string,
    read: () => Promise<readonly Part[]>,
  ): Promised<Part[]> {
    return whenKnown(loaders.list.load({ name, read }), (list) => this.inTurn(list as readonly Part[], budget));
  }

  /** The list, when it is its turn. */
  inTurn<Part>(list: readonly Part[], budget: WorkBudget): Promised<Part[]> {
    if (list.length <= FEW) return list as Part[];
    const answer = async (): Promise<Part[]> => {
      budget.take(list.length * PART_BYTES);
      return list as Part[];
    };
    return budget.loadedBytes <= LITTLE_BYTES ? answer() : this.#turns.run(answer, list.length * PART_MS);
  }
}
