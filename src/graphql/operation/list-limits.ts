import {
  type ArgumentNode,
  type FragmentDefinitionNode,
  getNullableType,
  GraphQLID,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputObjectType,
  isListType,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  type ValueNode,
  valueFromASTUntyped,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { type AppError, badInput } from '../../errors.ts';
import { MAX_FIELDS_PER_PRODUCT } from '../../domain/products/new-field.ts';

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

/** An argument of an operation's fields that is a list or an id, or has some in it. */
interface ListArgument {
  /** Name of the field that has it. */
  field: string;
  name: string;
  type: GraphQLInputType;
  value: ValueNode;
}

/** List arguments that an operation or a fragment has itself, each under what tells it from others, and its spreads. */
interface Part {
  lists: ReadonlyMap<unknown, ListArgument>;
  spreads: readonly string[];
}

type Definition = OperationDefinitionNode | FragmentDefinitionNode;

/** Arguments of kept documents: found once, those of a fragment for all operations of its document. */
const found = new WeakMap<Definition, Part>();

/**
 * Bounds every list and every id that an operation gives to its fields, before anything is done with it: work for each
 * device of a page is done with the list, too. Expects a validated document. Throws AppError BAD_USER_INPUT, naming the
 * argument.
 */
export function checkLists(
  schema: GraphQLSchema,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): void {
  const lists = listArguments(schema, fragments, operation);
  if (lists.size === 0) return;
  const given = withDefaults(operation, variables);
  for (const { field, name, type, value } of lists.values())
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
function isBounded(type: GraphQLInputType): boolean {
  const known = getNullableType(type);
  if (isListType(known) || known === GraphQLID) return true;
  return isInputObjectType(known) && Object.values(known.getFields()).some((part) => isBounded(part.type));
}

/** List arguments of all fields that the operation reaches; a variable given to several is looked at once. */
function listArguments(
  schema: GraphQLSchema,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  operation: OperationDefinitionNode,
): ReadonlyMap<unknown, ListArgument> {
  const own = partOf(schema, operation);
  if (own.spreads.length === 0) return own.lists;
  const lists = new Map(own.lists);
  // Grows while it is visited.
  const reached = new Set(own.spreads);
  for (const name of reached) {
    const fragment = fragments.get(name);
    if (fragment === undefined) continue;
    const part = partOf(schema, fragment);
    for (const [key, list] of part.lists) lists.set(key, list);
    for (const spread of part.spreads) reached.add(spread);
  }
  return lists;
}

function partOf(schema: GraphQLSchema, definition: Definition): Part {
  const before = found.get(definition);
  if (before !== undefined) return before;
  const lists = new Map<unknown, ListArgument>();
  const spreads = new Set<string>();
  const types = new TypeInfo(schema);
  const collect = visitWithTypeInfo(types, {
    FragmentSpread: ({ name }) => void spreads.add(name.value),
    Argument: ({ name, value }: ArgumentNode) => {
      const [type, field] = [types.getInputType(), types.getFieldDef()?.name ?? ''];
      if (type == null || !isBounded(type)) return false;
      const key = value.kind === Kind.VARIABLE ? `${field} ${name.value} ${value.name.value}` : value;
      lists.set(key, { field, name: name.value, type, value });
      return false;
    },
  });
  visit(definition, collect);
  const part = { lists, spreads: [...spreads] };
  found.set(definition, part);
  return part;
}

/** The variables as they were sent, and defaults for those left out. */
function withDefaults(
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const given = Object.create(null) as Record<string, unknown>;
  for (const { variable, defaultValue } of variableDefinitions) {
    const name = variable.name.value;
    if (Object.hasOwn(variables, name)) given[name] = variables[name];
    else if (defaultValue !== undefined) given[name] = valueFromASTUntyped(defaultValue);
  }
  return given;
}
