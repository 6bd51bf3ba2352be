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
  const pairs = new Map<Asked, State | null>();
  for (const [sharedName, here] of Map.groupBy(asked, (one) => one.sharedName)) {
    const there = sharedName === null ? [] : (shared.get(sharedName) ?? []);
    const isClear = there.length === 0 || there.length === here.length;
    for (const [index, one] of here.entries()) {
      pairs.set(one, sharedName === null ? (byName.get(one.name) ?? null) : isClear ? (there[index] ?? null) : null);
      if (isClear) continue;
      blocks.push({
        path: one.path,
        message:
          `the workspace has ${there.length} of this name, and the document ${here.length}: which one is meant? ` +
          'Give each a name of its own, or a product a key.',
      });
    }
  }
  // In the order of the document.
  return new Map(asked.map((one) => [one, pairs.get(one) ?? null]));
}
