import { giveWay } from '../../domain/give-way.ts';
import type { GraphqlContext } from './graphql-context.ts';
import type { Loaders } from './loaders.ts';

/** What is asked of so many takes no long time. */
const FEW = 50;
/** Looks at the clock after so many. */
const STEP = 8;
const SLICE_MS = 5;

/**
 * The list as graphql-js may have it: of what a mutation answers with, which can be ten thousand items long, each is
 * promised, because it goes on with all that are there at once. They come for some milliseconds, then others have their
 * turn, and what was asked of the loaders for these is there before the next come. What that takes counts as worked.
 */
export function listInSlices<Item>(list: Item[], context: GraphqlContext): Item[] {
  // Planned queries have their own ways: their lists are short, or in turns.
  if (list.length <= FEW || !context.isMutation) return list;
  const promised = list.map(() => Promise.withResolvers<Item>());
  void handOut(list, promised, context);
  return promised.map(({ promise }) => promise) as unknown as Item[];
}

async function handOut<Item>(
  list: readonly Item[],
  promised: readonly PromiseWithResolvers<Item>[],
  context: GraphqlContext,
): Promise<void> {
  const { budget } = context;
  let at = 0;
  try {
    await giveWay();
    while (at < list.length) {
      const { loaders } = context;
      const from = performance.now();
      while (at < list.length && performance.now() - from < SLICE_MS) {
        for (const end = Math.min(at + STEP, list.length); at < end; at += 1) promised[at]!.resolve(list[at]!);
        // Whoever waits for these goes on first.
        await Promise.resolve();
      }
      budget.work(performance.now() - from);
      await loaded(loaders);
    }
  } catch (error) {
    // The operation has ended, the list with the first item that failed.
    const { promise, reject } = promised[at]!;
    promise.catch(() => {});
    reject(error);
  }
}

/** When the loaders have answered, and others have had their turn. */
async function loaded(loaders: Loaders): Promise<void> {
  for (;;) {
    await giveWay();
    const answers = Object.values(loaders).flatMap(({ answer }) => answer ?? []);
    if (answers.length === 0) return;
    await Promise.all(answers);
  }
}
