import { AppError } from '../../errors.ts';
import { must } from '../../must.ts';

/** An object of a document, or a part of one: JSON values by property. */
export type Tree = Readonly<Record<string, unknown>>;

/** One value. `read` checks what a document says and returns it in its one form; throws BAD_USER_INPUT naming `path`. */
interface ValueShape {
  kind: 'value';
  read: (given: unknown, path: string) => unknown;
  /** The value that is left out of a normal form, and meant by one that is left out. */
  otherwise: unknown;
  isRequired?: true;
}

/** A value that is there or not: left out, it stays as it is; only a prune takes it away. */
interface PartShape {
  kind: 'part';
  read: (given: unknown, path: string) => unknown;
  otherwise: unknown;
}

/**
 * Items that the property `by` names: what is not listed stays; only a prune takes it away. `nameOf`: the name is made of
 * several properties.
 */
interface ListShape {
  kind: 'list';
  by: string;
  nameOf?: (item: Tree) => string;
  item: GroupShape;
}

/**
 * Properties in their fixed order. `check`: of several properties together, once each is right by itself. `settle`: makes
 * room for what the document wants in what it leaves as it is.
 */
export interface GroupShape {
  kind: 'group';
  properties: Readonly<Record<string, Shape>>;
  check?: (tree: Tree, path: string) => void;
  settle?: (target: Tree, wanted: Tree) => Tree;
}

/** The form of a part of a document, by which it is read, written, compared and merged. */
type Shape = ValueShape | PartShape | ListShape | GroupShape;

/** A mistake in a document, or a reason why it cannot be applied; `path` as in the document. */
export interface Block {
  path: string;
  message: string;
}

/** The name in brackets behind a list: bare where it can be. */
export function segment(name: string): string {
  return /^[\w-]+$/.test(name) ? `[${name}]` : `[${JSON.stringify(name)}]`;
}

/** Runs a check; its refusal becomes a block at the path that its message begins with, else at `path`. */
export function blocking<T>(blocks: Block[], path: string, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    blocks.push(blockOf(error, path));
    return undefined;
  }
}

/** The refusal as a block. */
export function blockOf({ message }: AppError, path: string): Block {
  if (!message.startsWith(path)) return { path, message };
  const end = message.indexOf(': ', path.length);
  const more = end < 0 ? ' ' : message.slice(path.length, end);
  // A path goes on without blanks, but for those of names in quotes.
  const goesOn = /^(?:\.[^\s.[\]]+|\[\d+\]|\[[\w-]+\]|\["(?:[^"\\]|\\.)*"\])*$/.test(more);
  return goesOn ? { path: path + more, message: message.slice(end + 2) } : { path, message };
}

/** True for two JSON values in their one form. */
export function isSame(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === 'object' && JSON.stringify(one) === JSON.stringify(other));
}

/** The name of a list's item. */
export function nameIn({ by, nameOf }: ListShape, item: Tree): string {
  return nameOf === undefined ? (item[by] as string) : nameOf(item);
}

/** Reads an object as the shape says; each mistake is a block. */
export function readGroup(shape: GroupShape, given: unknown, path: string, blocks: Block[]): Tree {
  if (!isObject(given)) {
    blocks.push({ path, message: `expected an object, got ${shown(given)}.` });
    return {};
  }
  const before = blocks.length;
  const known = Object.keys(shape.properties);
  for (const key of Object.keys(given))
    if (!known.includes(key))
      blocks.push({ path: below(path, key.slice(0, 70)), message: `unknown key; there are ${known.join(', ')}.` });
  const tree: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(shape.properties)) {
    const value = Object.hasOwn(given, key) ? (given as Record<string, unknown>)[key] : undefined;
    const read = readPart(part, value ?? undefined, below(path, key), blocks);
    if (read !== undefined) tree[key] = read;
  }
  if (shape.check !== undefined && blocks.length === before)
    blocking(blocks, path, () => must(shape.check)(tree, path));
  return tree;
}

/** The path of a property below another path. */
export function below(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function readPart(shape: Shape, given: unknown, path: string, blocks: Block[]): unknown {
  if (given === undefined) {
    if (shape.kind === 'value' && shape.isRequired) blocks.push({ path, message: 'is missing.' });
    return undefined;
  }
  if (shape.kind === 'group') return readGroup(shape, given, path, blocks);
  if (shape.kind !== 'list') return blocking(blocks, path, () => shape.read(given, path));
  if (!Array.isArray(given)) {
    blocks.push({ path, message: `expected a list, got ${shown(given)}.` });
    return undefined;
  }
  const items = new Map<string, Tree>();
  for (const [index, item] of given.entries()) {
    const name = isObject(item) && typeof item[shape.by] === 'string' ? nameIn(shape, item) : undefined;
    const isNamed = typeof name === 'string' && name !== '';
    const at = path + (isNamed ? segment(name) : `[${index}]`);
    const read = readGroup(shape.item, item, at, blocks);
    if (isNamed && items.has(name)) blocks.push({ path: at, message: `is there twice; "${shape.by}" names one.` });
    if (isNamed) items.set(name, read);
  }
  return [...items.values()];
}

/** The value of a document as a message shows it. */
export function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 60);
}

/** True for an object that is no list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
