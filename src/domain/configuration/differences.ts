import { itemsOf } from './normal-form.ts';
import { below, type GroupShape, isSame, nameIn, segment, type Tree } from './shape.ts';
import { must } from '../../must.ts';

/** A change of something; `path` as in the document. */
export interface Change {
  action: 'CREATE' | 'UPDATE' | 'DELETE';
  path: string;
  /** null: nothing. */
  before: unknown;
  after: unknown;
  /** Number of measurements that it would take; null: it can take none. */
  measurements: number | null;
}

/** What leads from one tree to another; undefined: there is none. Both in normal form. */
export function differences(
  shape: GroupShape,
  before: Tree | undefined,
  after: Tree | undefined,
  path: string,
): Change[] {
  const whole = changeOf(path, before, after);
  if (whole !== null) return whole;
  const changes: Change[] = [];
  for (const [key, part] of Object.entries(shape.properties)) {
    const [was, is, at] = [must(before)[key], must(after)[key], below(path, key)];
    if (part.kind === 'value') {
      const [from, to] = [was ?? part.otherwise, is ?? part.otherwise];
      if (!isSame(from, to)) changes.push(change('UPDATE', at, from, to));
    } else if (part.kind === 'part') {
      const known = changeOf(at, was, is);
      if (known !== null) changes.push(...known);
      else if (!isSame(was, is)) changes.push(change('UPDATE', at, was, is));
    } else if (part.kind === 'group') changes.push(...differences(part, (was ?? {}) as Tree, (is ?? {}) as Tree, at));
    else
      for (const [name, [one, other]] of paired(part, was, is))
        changes.push(...differences(part.item, one, other, at + segment(name)));
  }
  return changes;
}

/**
 * What other hands have changed: from the tree as it was last applied (`base`) to the one that is there, without what
 * the document (`wanted`) says as well.
 */
export function drift(
  shape: GroupShape,
  { base, is, wanted }: Record<'base' | 'is' | 'wanted', Tree | undefined>,
  path: string,
): Change[] {
  const whole = changeOf(path, base, is);
  if (whole !== null) {
    const agrees = is === undefined ? wanted === undefined : wanted !== undefined && agree(shape, is, wanted);
    return agrees ? [] : whole;
  }
  const changes: Change[] = [];
  for (const [key, part] of Object.entries(shape.properties)) {
    const [was, now, want, at] = [must(base)[key], must(is)[key], wanted?.[key], below(path, key)];
    if (part.kind === 'value') {
      const [from, to] = [was ?? part.otherwise, now ?? part.otherwise];
      const isWanted = wanted !== undefined && isSame(to, want ?? part.otherwise);
      if (!isSame(from, to) && !isWanted) changes.push(change('UPDATE', at, from, to));
    } else if (part.kind === 'part') {
      if (isSame(was, now) || isSame(now ?? part.otherwise, want ?? (now === undefined ? part.otherwise : undefined)))
        continue;
      changes.push(...(changeOf(at, was, now) ?? [change('UPDATE', at, was, now)]));
    } else if (part.kind === 'group') {
      const [one, other] = [(was ?? {}) as Tree, (now ?? {}) as Tree];
      changes.push(...drift(part, { base: one, is: other, wanted: (want ?? {}) as Tree }, at));
    } else {
      const asked = new Map(itemsOf(want).map((item) => [nameIn(part, item), item]));
      for (const [name, [one, other]] of paired(part, was, now))
        changes.push(...drift(part.item, { base: one, is: other, wanted: asked.get(name) }, at + segment(name)));
    }
  }
  return changes;
}

/** True when nothing is to be done to make the one what the other says. */
function agree(shape: GroupShape, is: Tree, wanted: Tree): boolean {
  return Object.entries(shape.properties).every(([key, part]) => {
    const [now, want] = [is[key], wanted[key]];
    if (part.kind === 'value') return isSame(now ?? part.otherwise, want ?? part.otherwise);
    if (part.kind === 'part') return isSame(now ?? part.otherwise, want ?? part.otherwise);
    if (part.kind === 'group') return agree(part, (now ?? {}) as Tree, (want ?? {}) as Tree);
    return [...paired(part, now, want).values()].every(
      ([one, other]) => one !== undefined && other !== undefined && agree(part.item, one, other),
    );
  });
}

type ListOf = Extract<GroupShape['properties'][string], { kind: 'list' }>;

/** The items of two lists by name. */
function paired(list: ListOf, one: unknown, other: unknown): Map<string, [Tree | undefined, Tree | undefined]> {
  const pairs = new Map<string, [Tree | undefined, Tree | undefined]>();
  for (const item of itemsOf(one)) pairs.set(nameIn(list, item), [item, undefined]);
  for (const item of itemsOf(other)) pairs.set(nameIn(list, item), [pairs.get(nameIn(list, item))?.[0], item]);
  return pairs;
}

/** What comes or goes as a whole; null: neither. */
function changeOf(path: string, before: unknown, after: unknown): Change[] | null {
  if (before !== undefined && after !== undefined) return null;
  if (before === after) return [];
  return [change(before === undefined ? 'CREATE' : 'DELETE', path, before, after)];
}

function change(action: Change['action'], path: string, before: unknown, after: unknown): Change {
  return { action, path, before: before ?? null, after: after ?? null, measurements: null };
}
