import {
  getNamedType,
  getNullableType,
  type GraphQLArgument,
  type GraphQLInputType,
  isInputObjectType,
  isListType,
} from 'graphql';
import type { Args } from './ways.ts';

/** A body of an operation holds a megabyte. */
const CHARACTERS = 600_000;
const DEPTH = 490;
const KEYS = 30_000;
/** What most lists may hold. */
const FULL_LIST = 1_000;

type Path = readonly (string | number)[];

/** One argument, or part of one, as long, deep or wide as it can be sent. */
export interface Worst {
  /** Which, and how. */
  name: string;
  /** The same arguments with it at its worst. */
  of: (given: Args) => Args;
}

/** Each of the arguments that are given, and each part of one, at its worst in every way. */
export function worstOf(args: readonly GraphQLArgument[], given: Args): Worst[] {
  return args
    .filter(({ name }) => Object.hasOwn(given, name))
    .flatMap(({ name, type }) => placesOf(type, given[name], [name]))
    .flatMap(({ path, type, value }) =>
      Object.entries(valuesOf(type, value)).map(([kind, worst]) => ({
        name: `(${path.join('.')}) ${kind}`,
        of: (others) => withValue(others, path, worst()) as Args,
      })),
    );
}

/** The value and all parts of it: of the entries of a list only the first. */
function placesOf(
  type: GraphQLInputType,
  value: unknown,
  path: Path,
): { path: Path; type: GraphQLInputType; value: unknown }[] {
  const known = getNullableType(type);
  const own = { path, type: known, value };
  if (isListType(known)) {
    const [first] = Array.isArray(value) ? value : [];
    return isInputObjectType(getNamedType(known)) && first !== undefined
      ? [own, ...placesOf(known.ofType, first, [...path, 0])]
      : [own];
  }
  if (!isInputObjectType(known)) return [own];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(known.getFields()).flatMap((part) =>
    Object.hasOwn(value, part.name) ? placesOf(part.type, (value as Args)[part.name], [...path, part.name]) : [],
  );
}

/** Made when they are asked for: together they would take a gigabyte. */
function valuesOf(type: GraphQLInputType, value: unknown): Record<string, () => unknown> {
  if (isListType(type)) return listsOf(value);
  switch (getNamedType(type).name) {
    case 'String':
    case 'ID':
      return { 'long text': () => 'é'.repeat(CHARACTERS / 2), 'many lines': () => '\n'.repeat(CHARACTERS / 2) };
    case 'DateTime':
      return { 'long text': () => `2001-01-01T00:00:00.${'0'.repeat(CHARACTERS)}Z` };
    case 'JSON':
      return {
        'long text': () => 'x'.repeat(CHARACTERS),
        deep: () => Array.from({ length: DEPTH }).reduce((inner, _, at) => (at % 2 === 0 ? [inner] : { a: inner }), 1),
        wide: () => Object.fromEntries(Array.from({ length: KEYS }, (_, at) => [`k${at}`, []])),
        'many lists': () => Array.from({ length: CHARACTERS / 4 }, () => []),
      };
    case 'MeasurementValue':
      return { 'long text': () => 'x'.repeat(CHARACTERS), digits: () => '1'.repeat(CHARACTERS) };
    case 'Int':
      return { largest: () => 2_147_483_647, smallest: () => -2_147_483_648 };
    case 'Float':
      return { largest: () => 1.7e308, smallest: () => 5e-324 };
    default:
      return {};
  }
}

function listsOf(value: unknown): Record<string, () => unknown> {
  const [first] = Array.isArray(value) ? value : [];
  const entry = first ?? 'x';
  if (typeof entry === 'object')
    return {
      'long list': () =>
        Array.from({ length: Math.floor(CHARACTERS / (JSON.stringify(entry).length + 1)) }, () => entry),
    };
  return {
    'long list': () => Array.from({ length: CHARACTERS / 4 }, () => 'x'),
    'full list': () => Array.from({ length: FULL_LIST }, (_, at) => `${at}`.padStart(60, 'x')),
    'list of long texts': () => Array.from({ length: 60 }, (_, at) => `${at}`.padStart(CHARACTERS / 100, 'x')),
  };
}

function withValue(given: unknown, [key, ...rest]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(given)) return given.map((one, at) => (at === key ? withValue(one, rest, value) : one));
  return { ...(given as Args), [key]: withValue((given as Args)[key], rest, value) };
}
