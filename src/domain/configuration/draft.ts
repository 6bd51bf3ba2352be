import { type Applied, placeKey } from './applied-objects.ts';
import { type Change, differences, drift } from './differences.ts';
import { merged, namesIn } from './normal-form.ts';
import { type Asked, type Section, SECTIONS } from './read-document.ts';
import type { Block, GroupShape, Tree } from './shape.ts';
import { must } from '../../must.ts';

/** An object that a plan concerns, as it is and as it is to be. */
export interface Draft<State = unknown> {
  section: Section;
  name: string;
  path: string;
  /** The rows behind it; null: it is new. */
  state: State | null;
  is: Tree | undefined;
  /** undefined: it is to be removed. */
  target: Tree | undefined;
  /** Its parts in the order of the document; undefined: the document does not name it. */
  wanted: Tree | undefined;
  pending: Change[];
  drift: Change[];
  /** The record of this set; null: none. */
  applied: Applied | null;
}

/** The set that a document is applied as, and what it may remove. */
export interface Ownership {
  set: string;
  prune: boolean;
  applied: ReadonlyMap<string, Applied>;
}

/** An object of the document over the one that is there, if any. A set that another one owns is a block. */
export function draftOf<State extends { tree: Tree }>(
  section: Section,
  asked: Asked,
  state: State | null,
  { set, prune, applied }: Ownership,
  blocks: Block[],
): Draft<State> {
  const shape: GroupShape = SECTIONS[section];
  const { name, path, tree: wanted } = asked;
  const record = applied.get(placeKey({ section, name })) ?? null;
  if (record !== null && record.set !== set && record.set !== '' && !record.isLeft)
    blocks.push({
      path,
      message:
        `belongs to the set "${record.set}". Take it out of that set's document and apply that first (without prune), ` +
        `or apply this one as that set.`,
    });
  const own = record?.set === set ? record : null;
  const named = new Set(namesIn(shape, wanted));
  const removable = new Set(prune && own !== null ? own.named.filter((part) => !named.has(part)) : []);
  const is = state?.tree;
  const made = merged(shape, { is: is ?? {}, wanted }, removable);
  const target = shape.settle?.(made, wanted) ?? made;
  return {
    section,
    name,
    path,
    state,
    is,
    target,
    wanted,
    pending: differences(shape, is, target, path),
    drift: own === null ? [] : drift(shape, { base: own.state, is, wanted }, path),
    applied: own,
  };
}

/** Drafts of pairs in their order, and of what the set owns and its document no longer names (`owned`, by name). */
export function draftsOfPairs<State extends { name: string; tree: Tree }>(
  section: Section,
  { pairs, states }: { pairs: Iterable<readonly [Asked, State | null]>; states: readonly State[] },
  { owned, ownership }: { owned: ReadonlyMap<string, Applied>; ownership: Ownership },
  blocks: Block[],
): Draft<State>[] {
  const drafts = Array.from(pairs, ([asked, state]) => draftOf(section, asked, state, ownership, blocks));
  const pruned = ownership.prune ? states.filter(({ name }) => owned.has(name)) : [];
  return [...drafts, ...pruned.map((state) => prunedDraft(section, state, must(owned.get(state.name))))];
}

/** Those that the document names: they are not to be removed. */
export function staying<State>(drafts: readonly Draft<State>[]): (Draft<State> & { target: Tree })[] {
  return drafts.filter((draft): draft is Draft<State> & { target: Tree } => draft.target !== undefined);
}

/** Blocks new objects beyond the maximum of a workspace, which has `count` of them. */
export function blockTooMany(
  section: Section,
  drafts: readonly Draft[],
  { count, max }: { count: number; max: number },
  blocks: Block[],
): void {
  const added = drafts.filter(({ state }) => state === null).length;
  const removed = drafts.filter(({ target }) => target === undefined).length;
  if (added > 0 && count + added - removed > max)
    blocks.push({ path: section, message: `A workspace has at most ${max} ${section}.` });
}

/** An object that the set owns, and its document no longer names. */
export function prunedDraft<State extends { name: string; tree: Tree }>(
  section: Section,
  state: State,
  applied: Applied,
): Draft<State> {
  const [shape, path] = [SECTIONS[section], `${section}[${state.name}]`];
  return {
    section,
    name: state.name,
    path,
    state,
    is: state.tree,
    target: undefined,
    wanted: undefined,
    pending: differences(shape, state.tree, undefined, path),
    drift: drift(shape, { base: applied.state, is: state.tree, wanted: undefined }, path),
    applied,
  };
}
