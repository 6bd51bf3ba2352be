import { createHash } from 'node:crypto';
import { conflict } from '../../errors.ts';

/**
 * The state that the input of a create mutation asks for: a value for each path in the words of the input, such as
 * `name` or `fields.temperature`. Parts with their default are null or left out; a list whose order says nothing has
 * one part for each item, by its identifier.
 */
type InputParts = Readonly<Record<string, unknown>>;

/** Parts as they are kept and compared: canonical JSON, or the digest of a long one; without parts that are null. */
export type SealedParts = Readonly<Record<string, string>>;

/** Length from which a value is kept as its digest. */
const LONG = 200;
const DIGEST = 'sha256:';
/** Maximum differences in a message, and length of a value there. */
const MOST_NAMED = 10;
const SHOWN = 80;

/** Seals parts for keeping with a new object, and for `requireSameInput`. */
export function sealParts(parts: InputParts): SealedParts {
  const given = Object.entries(parts).filter(([, value]) => value != null);
  return Object.fromEntries(given.map(([path, value]) => [path, sealed(value)]));
}

interface Repeated {
  /** The kind of object, its id, name and key, for the message. */
  what: string;
  id: string;
  name: string;
  key: string;
  /** The input at hand. */
  asked: SealedParts;
  /** The input that the object was made by; null: not by one, or not with a key. */
  created: SealedParts | null;
  /** The object as it is now. */
  present: () => Promise<SealedParts>;
  /** The beginning of paths of the input; '': arguments without an object around them. */
  under?: 'input.' | '';
}

/**
 * Required for a create mutation whose key an object has already: each part must be as in the input that made the
 * object, or as the object is now. So a script may run again whatever was changed since, and an input that describes
 * what is there is none that differs. Else CONFLICT naming the parts, with `existingId` and `differences`.
 */
export async function requireSameInput(repeated: Repeated): Promise<void> {
  const { what, id, name, key, asked, created, present, under = 'input.' } = repeated;
  if (created !== null && differing(asked, created).length === 0) return;
  const now = await present();
  const differences = differing(asked, now).filter((path) => created === null || asked[path] !== created[path]);
  if (differences.length === 0) return;
  const named = differences.slice(0, MOST_NAMED).map((path) => `${under}${path}${comparison(asked[path], now[path])}`);
  const more = differences.length > MOST_NAMED ? `, and ${differences.length - MOST_NAMED} more` : '';
  throw conflict(
    `${under}key: the ${what} "${name}" has the key "${key}" already, and differs from this input in ` +
      `${named.join(', ')}${more}. Change it by its id, or choose another key.`,
    { existingId: id, differences: differences.map((path) => under + path) },
  );
}

/** The paths in which two inputs differ, in the order of the first and then of the second. */
function differing(one: SealedParts, other: SealedParts): string[] {
  const paths = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...paths].filter((path) => one[path] !== other[path]);
}

function sealed(value: unknown): string {
  const text = JSON.stringify(ordered(value));
  return text.length <= LONG ? text : `${DIGEST}${createHash('sha256').update(text).digest('base64url')}`;
}

/** The same value with the keys of all objects in one order. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(
    entries.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([key, item]) => [key, ordered(item)]),
  );
}

/** The two values for a message; '' for one that is kept as its digest. */
function comparison(...parts: [string | undefined, string | undefined]): string {
  if (parts.some((part) => part?.startsWith(DIGEST))) return '';
  const [here, there] = parts.map((part) =>
    part === undefined ? 'left out' : part.length > SHOWN ? `${part.slice(0, SHOWN)}…` : part,
  );
  return ` (${here}, there ${there})`;
}
