import type { Asked } from './read-document.ts';
import type { Block } from './shape.ts';

/** Something of the workspace under the name that documents have for it. `sharedName`: as in `Asked`. */
interface Known {
  name: string;
  sharedName: string | null;
}

/**
 * Which object of the workspace each one of a document is; null: a new one. Those that have only a name, which several
 * share, are paired in their order, if there are as many in the document: else it is a block.
 */
export function paired<State extends Known>(
  asked: readonly Asked[],
  known: readonly State[],
  blocks: Block[],
): Map<Asked, State | null> {
  const byName = new Map(known.map((state) => [state.name, state]));
  const shared = Map.groupBy(known, ({ sharedName }) => sharedName);
  const wanted = Map.groupBy(asked, ({ sharedName }) => sharedName);
  return new Map(
    asked.map((one) => {
      const { name, sharedName, path } = one;
      const there = sharedName === null ? 0 : (shared.get(sharedName)?.length ?? 0);
      const here = sharedName === null ? 0 : wanted.get(sharedName)!.length;
      if (there > 0 && there !== here) {
        blocks.push({
          path,
          message:
            `the workspace has ${there} of this name, and the document ${here}: which one is meant? ` +
            'Give each a name of its own, or a product a key.',
        });
        return [one, null];
      }
      return [one, byName.get(name) ?? null];
    }),
  );
}
