import {
  getNullableType,
  GraphQLID,
  type GraphQLInputType,
  isInputObjectType,
  isListType,
  type OperationDefinitionNode,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql';
import { type AppError, badInput } from '../../errors.ts';
import { MAX_FIELDS_PER_PRODUCT } from '../../domain/products/new-field.ts';
import { answerBytes } from '../context/answer-size.ts';

/** Maximum entries per list of an operation, and maximum characters per text in it. */
interface ListLimit {
  entries: number;
  characters: number;
}

/** The limit of every list that is not named below. */
const USUAL: ListLimit = { entries: 1_000, characters: 1_000 };
/** The limit of lists of identifiers, or of fields to be: a product has no more. */
const FIELDS: ListLimit = { entries: MAX_FIELDS_PER_PRODUCT, characters: 64 };
/** The limit of LARGE_LISTS, by the names of field and argument; the services say the same. */
const LARGE: ListLimit = { entries: 10_000, characters: 1_000 };
const LARGE_LISTS: ReadonlySet<string> = new Set([
  'createDevices.devices',
  'deleteDevices.ids',
  'recordMeasurements.entries',
]);

/** Maximum characters of an id outside a list: a look-up may go through it letter by letter. */
const ID_CHARACTERS = USUAL.characters;

/** Maximum bytes of JSON that variables add to an operation by occurring several times in its lists and objects. */
const MOST_REPEATED_BYTES = 4 * 1_048_576;

/** An argument of an operation's fields that is a list or an id, or has some in it. */
export interface ListArgument {
  /** Name of the field that has it. */
  field: string;
  name: string;
  type: GraphQLInputType;
  value: ValueNode;
}

/** The parts of an operation that are bounded here. */
export interface OperationInputs {
  /** Arguments that are or hold lists and ids; literals only where they are over a limit. */
  lists: readonly ListArgument[];
  /** How often each variable stands in a list or an object. */
  repeats: ReadonlyMap<string, number>;
}

type Variables = Readonly<Record<string, unknown>>;

/**
 * Bounds what an operation gives to its fields, before anything goes through it: its size with its variables written
 * into its lists and objects, then every list and every id; work for each device of a page is done with the list, too.
 * Throws AppError BAD_USER_INPUT, naming the variable or the argument.
 */
export function checkInputs(
  { repeats, lists }: OperationInputs,
  operation: OperationDefinitionNode,
  variables: Variables,
): void {
  if (lists.length === 0 && repeats.size === 0) return;
  const given = withDefaults(operation, variables);
  let room = MOST_REPEATED_BYTES;
  for (const [name, value] of Object.entries(given)) {
    const times = repeats.get(name) ?? 0;
    // No more than it was sent.
    if (times <= 1) continue;
    room -= (times - 1) * answerBytes(value, room);
    if (room < 0)
      throw badInput(
        `"$${name}" stands ${times} times in lists and objects: what is repeated so may come to ${MOST_REPEATED_BYTES} bytes.`,
        { variable: name, allowed: MOST_REPEATED_BYTES },
      );
  }
  for (const list of lists) checkArgument(list, given);
}

/** Whether a literal is within the limits. */
export function isWithinLimits(literal: ListArgument): boolean {
  try {
    checkArgument(literal, {});
    return true;
  } catch {
    return false;
  }
}

function checkArgument({ field, name, type, value }: ListArgument, given: Variables): void {
  check(type, valueFromASTUntyped(value, given), [name], field);
}

function check(type: GraphQLInputType, value: unknown, path: readonly string[], field: string): void {
  const known = getNullableType(type);
  if (value == null) return;
  if (known === GraphQLID) checkId(value, path);
  else if (isListType(known)) {
    // A single value becomes a list.
    const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
    checkList(entries, limitOf(field, path), path);
    if (isBounded(known.ofType) && getNullableType(known.ofType) !== GraphQLID)
      for (const entry of entries) check(known.ofType, entry, path, field);
  } else if (isInputObjectType(known) && typeof value === 'object') {
    for (const part of Object.values(known.getFields()))
      if (isBounded(part.type))
        check(part.type, (value as Record<string, unknown>)[part.name], [...path, part.name], field);
  }
}

function checkId(value: unknown, path: readonly string[]): void {
  if (isLonger(value, ID_CHARACTERS)) throw tooLong(path.join('.'), ID_CHARACTERS);
}

function checkList(entries: readonly unknown[], limit: ListLimit, path: readonly string[]): void {
  const argument = path.join('.');
  if (entries.length > limit.entries)
    throw badInput(`"${argument}": ${entries.length} entries, at most ${limit.entries} are allowed.`, {
      argument,
      allowed: limit.entries,
    });
  const at = entries.findIndex((entry) => isLonger(entry, limit.characters));
  if (at !== -1) throw tooLong(argument, limit.characters, `[${at}]`);
}

/** `entry`: the place within the argument. */
function tooLong(argument: string, allowed: number, entry = ''): AppError {
  return badInput(`"${argument}${entry}": at most ${allowed} characters are allowed.`, { argument, allowed });
}

/** Whether an id is too long. An integer of over 308 digits is Infinity here, but digits for its field. */
function isLonger(value: unknown, characters: number): boolean {
  return typeof value === 'string' ? value.length > characters : value === Infinity || value === -Infinity;
}

function limitOf(field: string, path: readonly string[]): ListLimit {
  if (path.at(-1) === 'fields') return FIELDS;
  return LARGE_LISTS.has(`${field}.${path.join('.')}`) ? LARGE : USUAL;
}

/** Whether values of the type are, or hold, lists or ids that are bounded here. */
export function isBounded(type: GraphQLInputType): boolean {
  const known = getNullableType(type);
  if (isListType(known) || known === GraphQLID) return true;
  return isInputObjectType(known) && Object.values(known.getFields()).some((part) => isBounded(part.type));
}

/** The variables as they were sent, and defaults for those left out. */
function withDefaults(
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Variables,
): Record<string, unknown> {
  const given = Object.create(null) as Record<string, unknown>;
  for (const { variable, defaultValue } of variableDefinitions) {
    const name = variable.name.value;
    if (Object.hasOwn(variables, name)) given[name] = variables[name];
    else if (defaultValue !== undefined) given[name] = valueFromASTUntyped(defaultValue);
  }
  return given;
}
