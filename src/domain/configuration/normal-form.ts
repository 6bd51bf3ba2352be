import { type GroupShape, isSame, nameIn, segment, below, type Tree } from './shape.ts';
import { must } from '../../must.ts';

/**
 * The tree in its one form: keys in the order of the shape, lists in that of their names, without defaults and what is
 * empty.
 */
export function normalOf(shape: GroupShape, tree: Tree): Tree {
  const normal: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(shape.properties)) {
    const value = tree[key];
    if (value === undefined) continue;
    if (part.kind === 'group') {
      const inner = normalOf(part, value as Tree);
      if (Object.keys(inner).length > 0) normal[key] = inner;
    } else if (part.kind === 'list') {
      const items = (value as Tree[]).map((item) => normalOf(part.item, item));
      if (items.length > 0)
        normal[key] = items.toSorted((one, other) => (nameIn(part, one) < nameIn(part, other) ? -1 : 1));
    } else if (!isSame(value, part.otherwise)) normal[key] = value;
  }
  return normal;
}

/** The names of what a tree has by itself (items of lists, and parts), as paths below it. */
export function namesIn(shape: GroupShape, tree: Tree, path = ''): string[] {
  return Object.entries(shape.properties).flatMap(([key, part]) => {
    const [value, at] = [tree[key], below(path, key)];
    if (value === undefined || part.kind === 'value') return [];
    if (part.kind === 'part') return [at];
    if (part.kind === 'group') return namesIn(part, value as Tree, at);
    return (value as Tree[]).map((item) => at + segment(nameIn(part, item)));
  });
}

/**
 * The tree that is to be: what the document says over what is there, in normal form. A value that the document leaves
 * out has its default; an item or part that it leaves out stays, unless it is among the `removable`.
 */
export function merged(
  shape: GroupShape,
  { is, wanted }: { is: Tree; wanted: Tree },
  removable: ReadonlySet<string>,
  path = '',
): Tree {
  const target: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(shape.properties)) {
    const [present, want, at] = [is[key], wanted[key], below(path, key)];
    if (part.kind === 'value') target[key] = want;
    else if (part.kind === 'part') target[key] = want ?? (removable.has(at) ? undefined : present);
    else if (part.kind === 'group')
      target[key] = merged(part, { is: (present ?? {}) as Tree, wanted: (want ?? {}) as Tree }, removable, at);
    else {
      const [there, asked] = [itemsOf(present), itemsOf(want)].map(
        (items) => new Map(items.map((item) => [nameIn(part, item), item])),
      ) as [Map<string, Tree>, Map<string, Tree>];
      const kept = [...there.keys()].filter((name) => asked.has(name) || !removable.has(at + segment(name)));
      const names = new Set([...kept, ...asked.keys()]);
      target[key] = [...names].map((name) => {
        const item = asked.get(name);
        return item === undefined
          ? must(there.get(name))
          : merged(part.item, { is: there.get(name) ?? {}, wanted: item }, removable, at + segment(name));
      });
    }
  }
  return normalOf(shape, target);
}

/** The items of a list that may be left out. */
export function itemsOf(list: unknown): Tree[] {
  return (list ?? []) as Tree[];
}
