import { badInput } from '../../errors.ts';
import { ROLES } from '../entities/member.ts';
import { TOKEN_SCOPES, type TokenScope } from '../entities/token.ts';
import { checkFieldLimit, MAX_LIMITS } from '../accounts/new-token.ts';
import { readRangeTime } from '../times/range-time.ts';
import { nameOfDevice, nameOfReference, readDeviceReference, readProductReference } from './references.ts';
import { type GroupShape, shown } from './shape.ts';
import { anyText, oneOf, text } from './values.ts';
import { must } from '../../must.ts';

/** An INDIVIDUAL token of a document, without its secret. */
export const TOKEN: GroupShape = {
  kind: 'group',
  properties: {
    name: { kind: 'value', read: text({ max: 200 }), otherwise: null, isRequired: true },
    scopes: { kind: 'value', read: readScopes, otherwise: null, isRequired: true },
    products: {
      kind: 'value',
      read: (given, path) => listOf(readProductReference, nameOfReference)(given, path),
      otherwise: null,
    },
    devices: {
      kind: 'value',
      read: (given, path) => listOf(readDeviceReference, nameOfDevice)(given, path),
      otherwise: null,
    },
    fields: { kind: 'value', read: readFields, otherwise: null },
    expiresAt: { kind: 'value', read: readEnd, otherwise: null },
  },
  check: ({ fields, scopes }, path) =>
    void checkFieldLimit(fields as string[] | undefined, scopes as TokenScope[], `${path}.fields`),
};

/** A member of a document, who must be a user of the server. */
export const MEMBER: GroupShape = {
  kind: 'group',
  properties: {
    email: {
      kind: 'value',
      read: (given, path) => anyText(given, path).toLowerCase(),
      otherwise: null,
      isRequired: true,
    },
    role: { kind: 'value', read: oneOf(ROLES), otherwise: null, isRequired: true },
  },
};

/** A list of references in one order, none of them twice. */
export function inOrder<T>(references: readonly T[], nameOf: (reference: T) => string): T[] {
  const byName = new Map(references.map((reference) => [nameOf(reference), reference]));
  return [...byName].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, reference]) => reference);
}

function listOf<T>(read: (given: unknown, path: string) => T, nameOf: (reference: T) => string) {
  return (given: unknown, path: string): T[] => {
    if (!Array.isArray(given) || given.length > MAX_LIMITS)
      throw badInput(`${path}: expected a list of at most ${MAX_LIMITS}, got ${shown(given)}.`);
    return inOrder(
      given.map((item, index) => read(item, `${path}[${index}]`)),
      nameOf,
    );
  };
}

function readScopes(given: unknown, path: string): TokenScope[] {
  if (!Array.isArray(given) || given.length === 0)
    throw badInput(`${path}: name at least one of ${TOKEN_SCOPES.join(', ')}.`);
  const scopes = given.map((scope, index) => oneOf(TOKEN_SCOPES)(scope, `${path}[${index}]`));
  return TOKEN_SCOPES.filter((scope) => scopes.includes(scope));
}

function readFields(given: unknown, path: string): string[] {
  if (!Array.isArray(given)) throw badInput(`${path}: expected a list of identifiers, got ${shown(given)}.`);
  return must(
    checkFieldLimit(
      given.map((item, index) => anyText(item, `${path}[${index}]`)),
      [],
      path,
    ),
  ).toSorted();
}

function readEnd(given: unknown, path: string): string {
  const time = typeof given === 'string' ? readRangeTime(given) : null;
  if (time === null) throw badInput(`${path}: expected a time such as 2027-01-31T12:00:00Z, got ${shown(given)}.`);
  return new Date(time).toISOString();
}
