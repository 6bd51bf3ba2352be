import {
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  type GraphQLCompositeType,
  type GraphQLSchema,
  isCompositeType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { DEFAULT_FIRST, MAX_FIRST } from '../paging/page.ts';

/** The largest cost of one operation. A page of 50 devices with product, fields and latest values is about 2,000. */
export const MAX_COST = 25_000;

/** What is not the rule: own cost of a field, and how many children a list without `first` is taken to have. */
const PRICES: Record<string, { own?: number; times?: number }> = {
  'Device.history': { own: 50 },
  'Device.latest': { own: 2 },
  'Device.measurements': { own: 5 },
  'Product.calls': { own: 5 },
  'Product.decoderVersions': { times: 50 },
  'Product.fields': { times: 20 },
  'Product.suggestedFields': { times: 20 },
  'Query.plans': { times: 5 },
  'Mutation.testDecoder': { own: 100 },
  'Mutation.saveDecoder': { own: 100 },
  'Mutation.createProduct': { own: 100 },
  'Mutation.replayCalls': { own: 2000 },
  'Mutation.signIn': { own: 2500 },
  'Mutation.createUser': { own: 1000 },
};
const OBJECT = 1;
const LEAF = 0.1;
const MUTATION = 10;
const LIST_TIMES = 10;
const INTROSPECTION = 100;

/**
 * What an operation may cost at worst: each object 1, each value 0.1, lists times their `first` (or what lists of that
 * kind usually hold). Expects a validated document; variables as the client sent them.
 */
export function operationCost(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  variables: Readonly<Record<string, unknown>>,
): number {
  const known = new Map<string, number>();

  const costOfSet = (set: SelectionSetNode, type: GraphQLCompositeType): number => {
    let sum = 0;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) sum += costOfField(selection, type);
      else if (selection.kind === Kind.INLINE_FRAGMENT)
        sum += costOfSet(selection.selectionSet, conditionType(selection.typeCondition?.name.value, type));
      else sum += costOfFragment(selection.name.value, type);
    }
    return sum;
  };

  const costOfFragment = (name: string, type: GraphQLCompositeType): number => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const fragment = fragments.get(name);
    const cost = fragment
      ? costOfSet(fragment.selectionSet, conditionType(fragment.typeCondition.name.value, type))
      : 0;
    known.set(name, cost);
    return cost;
  };

  const conditionType = (name: string | undefined, otherwise: GraphQLCompositeType): GraphQLCompositeType => {
    const type = name === undefined ? undefined : schema.getType(name);
    return type !== undefined && isCompositeType(type) ? type : otherwise;
  };

  const costOfField = (node: FieldNode, parent: GraphQLCompositeType): number => {
    const name = node.name.value;
    if (name === '__schema' || name === '__type') return INTROSPECTION;
    const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
    if (field === undefined) return LEAF;
    const price = PRICES[`${parent.name}.${name}`];
    const type = getNamedType(field.type);
    const own = price?.own ?? (parent === schema.getMutationType() ? MUTATION : isLeafType(type) ? LEAF : OBJECT);
    if (!node.selectionSet || !isCompositeType(type)) return own;
    const inner = costOfSet(node.selectionSet, type);
    const nullable = isNonNullType(field.type) ? field.type.ofType : field.type;
    if (field.args.some((arg) => arg.name === 'first')) return own + firstOf(node, variables, operation) * inner;
    // The edges of a connection were multiplied by its `first`.
    if (isListType(nullable) && name !== 'edges') return own + (price?.times ?? LIST_TIMES) * inner;
    return own + inner;
  };

  const root = schema.getRootType(operation.operation);
  return root ? costOfSet(operation.selectionSet, root) : 0;
}

/** A wrong `first` is for the resolver to refuse: here it counts as the largest. */
function firstOf(
  node: FieldNode,
  variables: Readonly<Record<string, unknown>>,
  operation: OperationDefinitionNode,
): number {
  let value = node.arguments?.find((arg) => arg.name.value === 'first')?.value;
  if (value?.kind === Kind.VARIABLE) {
    const name = value.name.value;
    const given = variables[name];
    if (typeof given === 'number') return Math.min(Math.max(given, 1), MAX_FIRST);
    value = operation.variableDefinitions?.find((definition) => definition.variable.name.value === name)?.defaultValue;
  }
  return value?.kind === Kind.INT ? Math.min(Math.max(Number(value.value), 1), MAX_FIRST) : DEFAULT_FIRST;
}
