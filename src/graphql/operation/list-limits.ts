import {
  type ArgumentNode,
  type FragmentDefinitionNode,
  getNullableType,
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
import { badInput } from '../../errors.ts';
import { MAX_FIELDS_PER_PRODUCT } from '../../domain/products/new-field.ts';

/** What one list of an operation may hold: so many entries, and those that are texts so many characters each. */
interface ListLimit {
  entries: number;
  characters: number;
}

/** Of every list that is not named below. */
const USUAL: ListLimit = { entries: 1_000, characters: 1_000 };
/** Of identifiers, or of fields to be: a product has no more. */
const FIELDS: ListLimit = { entries: MAX_FIELDS_PER_PRODUCT, characters: 64 };
/** By the names of field and argument; the services say the same. */
const LARGE: ListLimit = { entries: 10_000, characters: 1_000 };
const LARGE_LISTS: ReadonlySet<string> = new Set([
  'createDevices.devices',
  'deleteDevices.ids',
  'recordMeasurements.entries',
]);

/** An argument of an operation's fields that is a list, or has lists in it. */
interface ListArgument {
  /** Of the field that has it. */
  field: string;
  name: string;
  type: GraphQLInputType;
  value: ValueNode;
}

/** Documents are kept: their arguments are found once. */
const found = new WeakMap<OperationDefinitionNode, readonly ListArgument[]>();

/**
 * Bounds every list that an operation gives to its fields, before anything is done with it: what is done for each device
 * of a page is done with the list, too. Expects a validated document. Throws AppError BAD_USER_INPUT, naming the argument.
 */
export function checkLists(
  schema: GraphQLSchema,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): void {
  let lists = found.get(operation);
  if (lists === undefined) found.set(operation, (lists = listArguments(schema, fragments, operation)));
  if (lists.length === 0) return;
  const given = withDefaults(operation, variables);
  for (const { field, name, type, value } of lists) check(type, valueFromASTUntyped(value, given), [name], field);
}

function check(type: GraphQLInputType, value: unknown, path: readonly string[], field: string): void {
  const known = getNullableType(type);
  if (value == null) return;
  if (isListType(known)) {
    // One that stands alone becomes a list.
    const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
    checkList(entries, limitOf(field, path), path);
    if (hasLists(known.ofType)) for (const entry of entries) check(known.ofType, entry, path, field);
  } else if (isInputObjectType(known) && typeof value === 'object') {
    for (const part of Object.values(known.getFields()))
      if (hasLists(part.type))
        check(part.type, (value as Record<string, unknown>)[part.name], [...path, part.name], field);
  }
}

function checkList(entries: readonly unknown[], limit: ListLimit, path: readonly string[]): void {
  const argument = path.join('.');
  if (entries.length > limit.entries)
    throw badInput(`"${argument}": ${entries.length} entries, at most ${limit.entries} are allowed.`, {
      argument,
      allowed: limit.entries,
    });
  const at = entries.findIndex((entry) => typeof entry === 'string' && entry.length > limit.characters);
  if (at !== -1)
    throw badInput(`"${argument}[${at}]": at most ${limit.characters} characters are allowed.`, {
      argument,
      allowed: limit.characters,
    });
}

function limitOf(field: string, path: readonly string[]): ListLimit {
  if (path.at(-1) === 'fields') return FIELDS;
  return LARGE_LISTS.has(`${field}.${path.join('.')}`) ? LARGE : USUAL;
}

/** Whether values of the type hold lists that are bounded here. */
function hasLists(type: GraphQLInputType): boolean {
  const known = getNullableType(type);
  if (isListType(known)) return true;
  return isInputObjectType(known) && Object.values(known.getFields()).some((part) => hasLists(part.type));
}

/** Of all fields that the operation reaches; what several are given by one variable is looked at once. */
function listArguments(
  schema: GraphQLSchema,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  operation: OperationDefinitionNode,
): readonly ListArgument[] {
  const lists = new Map<unknown, ListArgument>();
  const types = new TypeInfo(schema);
  // Grows while it is gone through.
  const reached = new Set<OperationDefinitionNode | FragmentDefinitionNode>([operation]);
  const collect = visitWithTypeInfo(types, {
    FragmentSpread: ({ name }) => {
      const fragment = fragments.get(name.value);
      if (fragment !== undefined) reached.add(fragment);
    },
    Argument: ({ name, value }: ArgumentNode) => {
      const [type, field] = [types.getInputType(), types.getFieldDef()?.name ?? ''];
      if (type == null || !hasLists(type)) return false;
      const key = value.kind === Kind.VARIABLE ? `${field} ${name.value} ${value.name.value}` : value;
      lists.set(key, { field, name: name.value, type, value });
      return false;
    },
  });
  for (const definition of reached) visit(definition, collect);
  return [...lists.values()];
}

/** What the operation's variables stand for, as it was sent. */
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
