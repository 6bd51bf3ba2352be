import { giveWay } from '../../domain/give-way.ts';
import { Pieces } from '../../domain/pieces.ts';
import type { GraphqlContext } from './graphql-context.ts';
import type { Loaders } from './loaders.ts';

/** What is asked of so many takes no long time … */
const FEW = 50;
/** … and of a query, of which planned parts have their own ways, not of a page: other lists have thousands. */
const FEW_OF_QUERY = 500;
/** So many come first, and at most so many more as before; each time as many as take about this long. */
const FIRST = 8;
const MORE = 2;
const SLICE_MS = 5;
/** Of all who ask, unless they take long, and of a token one: 150,000 values take 75 MB until they are written down. */
const AT_ONCE = 4;
/** Most of it is waiting for turns: others' lists wait for that no longer. */
const LONG_MS = 100;

/** How many wait is bounded by the mutations that have begun (`MutationPlaces`). */
const lists = new Pieces({ atOnce: AT_ONCE, maxWaiting: Infinity, longMs: LONG_MS });

/**
 * The list as graphql-js may have it: of what a mutation answers with, which can be ten thousand items long, and of a
 * query's where it is longer than a page, each is promised, because it goes on with all that are there at once. As many come as take some milliseconds with all that is
 * asked of them, then others have their turn, and what was asked of the loaders for these is there before the next come,
 * which is when it is their caller's turn again: hundreds may wait for one device, and go on together when it is there. Of
 * several lists one comes after the other: under other names the same is asked for two hundred times.
 */
export function listInSlices<Item>(list: Item[], context: GraphqlContext): Item[] {
  if (list.length <= (context.isMutation ? FEW : FEW_OF_QUERY)) return list;
  context.answersWith(list.length);
  const come = Promise.withResolvers<Promise<Item>[]>();
  void lists.one(context.caller, () => {
    const promised = list.map(() => Promise.withResolvers<Item>());
    come.resolve(promised.map(({ promise }) => promise));
    return handOut(list, promised, context);
  });
  return come.promise as unknown as Item[];
}

async function handOut<Item>(
  list: readonly Item[],
  promised: readonly PromiseWithResolvers<Item>[],
  context: GraphqlContext,
): Promise<void> {
  let at = 0;
  let most = FIRST;
  try {
    await giveWay();
    while (at < list.length) {
      const { loaders } = context;
      const from = performance.now();
      const end = Math.min(at + most, list.length);
      for (; at < end; at += 1) promised[at]!.resolve(list[at]!);
      await settled();
      const pieces = [performance.now() - from, ...(await piecesOfLoading(loaders))];
      most = Math.max(1, Math.floor(most * Math.min(MORE, SLICE_MS / Math.max(...pieces))));
      await context.nextPiece?.(pieces.reduce((sum, ms) => sum + ms, 0));
    }
  } catch (error) {
    // The operation has ended, the list with the first item that failed.
    const next = promised[at];
    next?.promise.catch(() => {});
    next?.reject(error);
  }
}

/** When the loaders have answered, and others have had their turn: how long, in ms, went on at once what waited for each. */
async function piecesOfLoading(loaders: Loaders): Promise<number[]> {
  const pieces: number[] = [];
  for (;;) {
    await giveWay();
    const answers = Object.values(loaders).flatMap(({ answer }) => answer ?? []);
    if (answers.length === 0) return pieces;
    await Promise.all(
      answers.map(async (answer) => {
        const answeredAt = await answer;
        await settled();
        pieces.push(performance.now() - answeredAt);
      }),
    );
  }
}

/** When all that goes on at once has gone on. */
function settled(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
