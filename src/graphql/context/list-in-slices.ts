import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import { KeyedSemaphore } from '../../scheduling/keyed-semaphore.ts';
import { BackgroundLane } from '../../scheduling/background-lane.ts';
import { ONE_OF_MANY } from './error-bounds.ts';
import type { GraphqlContext } from './graphql-context.ts';
import type { Loaders } from './loaders.ts';
import type { Promised } from './promised.ts';

/** What is asked of so many takes no long time … */
const FEW = 50;
/** … and of a query, of which planned parts have their own ways, not of a page: other lists have thousands. */
const FEW_OF_QUERY = 500;
/** So many come first, and at most so many more as before; each time as many as take about this long. */
const FIRST = 8;
const MORE = 2;
const SLICE_MS = 5;
/** Lists of all who ask, unless they take long, and of an operation one. */
const AT_ONCE = 4;
/** Most of it is waiting for turns: others' lists wait for that no longer. */
const LONG_MS = 100;

/** Of values, which short lists can bring, too. */
const MUCH = 5_000;
/** Operations of a tenant, and of a token one: 150,000 values take 75 MB until they are written down. */
const OF_TENANT = 4;

/** How many wait is bounded by the mutations that have begun (`MutationPlaces`). */
const lists = new BackgroundLane({ atOnce: AT_ONCE, maxWaiting: Infinity, slowAfterMs: LONG_MS });
const ofTokens = new KeyedSemaphore({ atOnce: 1, maxUnfinished: Infinity });
const ofTenants = new KeyedSemaphore({ atOnce: OF_TENANT, maxUnfinished: Infinity });

/**
 * The list as graphql-js may have it: of what a mutation answers with, which can be ten thousand items long, and of a
 * query's where it is longer than a page, each is promised, because it goes on with all that are there at once. As many
 * come as take some milliseconds with all that is asked of them, then others have their turn, and what was asked of the
 * loaders for these is there before the next come, which is when it is their caller's turn again: hundreds may wait for one
 * device, and go on together when it is there. Of several lists one comes after the other: under other names the same is
 * asked for two hundred times. What has come stays in memory until its mutation is answered, and until then no other of the
 * token goes on with one.
 */
export function listInSlices<Item>(list: Item[], context: GraphqlContext): Item[] {
  if (list.length <= (context.isMutation ? FEW : FEW_OF_QUERY)) return listInPlace(list, context) as Item[];
  context.answersWith(list.length);
  return inSlices(list, context);
}

/** `listInSlices` of a list of whatever length. */
export function inSlices<Item>(list: readonly Item[], context: GraphqlContext): Item[] {
  const come = Promise.withResolvers<Promise<Item>[]>();
  const begin = async (): Promise<void> => {
    if (context.isAnswered) return;
    const promised = list.map(() => Promise.withResolvers<Item>());
    come.resolve(promised.map(({ promise }) => promise));
    await handOut(list, promised, context);
  };
  // A query has its turn for as long as it takes, which a mutation's list may wait for: its lists wait for each other alone.
  if (context.isMutation) void placeOf(context).then(() => lists.run(context.caller, begin));
  else context.lastList = context.lastList.then(begin);
  return come.promise as unknown as Item[];
}

/** The list, of whatever length, when the operation may have it: of what brings many short ones, too, one of a token goes on. */
export function listInPlace<List>(list: List, context: GraphqlContext): Promised<List> {
  if (!context.isMutation || context.values <= MUCH || context.hasPlace) return list;
  return placeOf(context).then(async () => {
    // All that wait for it would go on at once.
    await yieldToEventLoop();
    // It has failed elsewhere, and its place is others' by now.
    if (context.isAnswered) throw ONE_OF_MANY;
    await context.goOn();
    return list;
  });
}

/** Resolves when the operation has its place, for its first long list as for all later ones. */
function placeOf(context: GraphqlContext): Promise<void> {
  const { tokenId, tenant } = context.caller;
  context.placeOfLists ??= new Promise((come) => {
    const use = async (): Promise<void> => {
      // Not in the same turn of the event loop as the end of the one before.
      await yieldToEventLoop();
      context.hasPlace = true;
      come();
      await context.untilAnswered();
    };
    // The last thing that anybody waits for with a place of its own: who has one waits for turns and the database alone.
    void ofTokens.use(tokenId, () => ofTenants.use(tenant, use));
  });
  return context.placeOfLists;
}

async function handOut<Item>(
  list: readonly Item[],
  promised: readonly PromiseWithResolvers<Item>[],
  context: GraphqlContext,
): Promise<void> {
  let at = 0;
  let most = FIRST;
  try {
    await yieldToEventLoop();
    while (at < list.length && !context.isAnswered) {
      // Its place, or its turn, may have come after minutes: a query has half a minute in all.
      if (context.isMutation) await context.goOn();
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
    // The operation has ended. Some ways to run it wait for all items, however many have failed; of each error of its own
    // graphql-js would make another one, ten thousand in one piece.
    for (const [after, { promise, reject }] of promised.slice(at).entries()) {
      promise.catch(() => {});
      reject(after === 0 ? error : ONE_OF_MANY);
    }
  }
}

/** When the loaders have answered, and others have had their turn: how long, in ms, went on at once what waited for each. */
async function piecesOfLoading(loaders: Loaders): Promise<number[]> {
  const pieces: number[] = [];
  for (;;) {
    await yieldToEventLoop();
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
