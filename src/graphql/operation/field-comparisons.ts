import { type FieldNode, type FragmentDefinitionNode, Kind, print, type SelectionSetNode } from 'graphql';

/**
 * Counts the work of validation with fields that are to be merged: each is compared with each of its response name,
 * however deep and in whichever fragments they are, and each fragment with each that it meets. Also counts under how
 * many names an object has the same field.
 */
export class FieldComparisons {
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #limits: { count: number; depth: number; equal: number };
  /** Fragments that were visited. */
  readonly #seen = new Set<string>();
  readonly #calls = new Map<FieldNode, string>();
  /** Estimated comparisons; no longer exact beyond the limit. */
  count = 0;
  /** Maximum number of names under which one object has a field with equal arguments. */
  equal = 0;

  /** Looks no deeper than `depth`: circular fragments have no end. */
  constructor(
    fragments: ReadonlyMap<string, FragmentDefinitionNode>,
    limits: { count: number; depth: number; equal: number },
  ) {
    this.#fragments = fragments;
    this.#limits = limits;
  }

  add(set: SelectionSetNode): void {
    this.#merge([set], 1);
  }

  /** Adds a fragment that no other has led to: it is validated like an operation. */
  addFragment({ name, selectionSet }: FragmentDefinitionNode): void {
    if (!this.#seen.has(name.value)) this.add(selectionSet);
  }

  /** Selection sets of one object. */
  #merge(sets: SelectionSetNode[], depth: number): void {
    // Beyond the limit counting ends: each of hundreds of operations would go through all fragments.
    if (this.count > this.#limits.count) return;
    const fields = new Map<string, { node: FieldNode; times: number; sets: SelectionSetNode[] }>();
    const met = new Set<string>();
    let spreads = 0;
    for (let set = sets.pop(); set !== undefined; set = sets.pop()) {
      this.count += set.selections.length;
      for (const selection of set.selections) {
        if (selection.kind === Kind.INLINE_FRAGMENT) sets.push(selection.selectionSet);
        else if (selection.kind === Kind.FRAGMENT_SPREAD) {
          const { value } = selection.name;
          const fragment = this.#fragments.get(value);
          spreads += 1;
          if (fragment === undefined || met.has(value)) continue;
          met.add(value);
          this.#seen.add(value);
          sets.push(fragment.selectionSet);
        } else {
          const name = (selection.alias ?? selection.name).value;
          const known = fields.get(name) ?? { node: selection, times: 0, sets: [] };
          // Compared with each that is there already.
          this.count += known.times;
          known.times += 1;
          if (selection.selectionSet) known.sets.push(selection.selectionSet);
          fields.set(name, known);
        }
      }
    }
    this.count += spreads * met.size;
    this.equal = Math.max(this.equal, this.#mostNames([...fields.values()].map(({ node }) => node)));
    if (depth === this.#limits.depth) return;
    for (const inner of fields.values()) if (inner.sets.length > 0) this.#merge(inner.sets, depth + 1);
  }

  /** The largest number of names for equal fields; with fewer aliases than the limit, one. */
  #mostNames(nodes: readonly FieldNode[]): number {
    if (nodes.filter(({ alias }) => alias !== undefined).length < this.#limits.equal) return 1;
    const names = new Map<string, number>();
    for (const node of nodes) {
      const call = this.#callOf(node);
      names.set(call, (names.get(call) ?? 0) + 1);
    }
    return Math.max(...names.values());
  }

  /** The field and its arguments, in any order. */
  #callOf(node: FieldNode): string {
    let call = this.#calls.get(node);
    if (call === undefined) {
      call = `${node.name.value}(${(node.arguments ?? [])
        .map((argument) => print(argument))
        .toSorted()
        .join()})`;
      this.#calls.set(node, call);
    }
    return call;
  }
}
