import {
  type FieldNode,
  type FragmentDefinitionNode,
  getArgumentValues,
  getNamedType,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  isCompositeType,
  isInterfaceType,
  isIntrospectionType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql';
import { MAX_VALUES } from '../context/answer-limits.ts';
import { DEFAULT_FIRST, MAX_FIRST } from '../paging/page.ts';

/** Maximum cost per operation. A page of 50 devices with product, fields and latest values is about 2,000. */
export const MAX_COST = 25_000;

const OBJECT = 1;
const LEAF = 0.1;
/** Cost of a value in a mutation's answer: within its price no answer has more than MAX_VALUES. */
const LEAF_OF_MUTATION = MAX_COST / MAX_VALUES;
const MUTATION = 10;
/** Items of a list of unknown length. */
export const LIST_TIMES = 10;
/** Cost of a field whose arguments do not fit, because a variable is null: it is an error for each parent. */
const FAILURE = 20;
/** Items of longer lists. */
const LONG_LIST_TIMES: Readonly<Record<string, number>> = {
  tokens: 100,
  deviceViews: 50,
  failingDecoders: 100,
  decoderExamples: 50,
  results: 100,
};
/** Costs of the schema's own fields: they come from memory, and their lists have other lengths. */
const META_OBJECT = 0.2;
const META_LEAF = 0.02;
const META_TIMES: Readonly<Record<string, number>> = { types: 120, directives: 5, fields: 15, args: 2 };
const META_LIST_TIMES = 5;

/** The part of type-graphql's `complexity` function that this room uses. */
type Estimator = (options: { args: Record<string, unknown>; childComplexity: number }) => number;

interface Priced {
  schema: GraphQLSchema;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Coerced: defaults filled in, as the resolvers will see them. */
  variables: Readonly<Record<string, unknown>>;
  /** Some do not fit, and nothing will run: the variables are incomplete. */
  mistaken?: boolean;
}

/** The price of a list of at most `first` items, of `usual` where that is left out; `each`: of one with its parts. */
export function priceOfList(first: unknown, usual: number, each: number): number {
  return OBJECT + Math.max(1, typeof first === 'number' ? first : usual) * each;
}

/** The price of a mutation that does something for each item of a list; `each`: with what it answers of it. */
export function priceOfEach(list: unknown, each: number): number {
  return MUTATION + (Array.isArray(list) ? list.length : 1) * each;
}

/**
 * The maximum cost of an operation: each object 1, each value 0.1, lists times their `first`, the length of the list
 * that they are asked for (`fields`), or the usual length of such lists; a field with type-graphql's `complexity` costs
 * that: a number for itself, or a function of its arguments and of its children's cost for the whole. Expects a
 * validated document.
 */
export function operationCost(priced: Priced, operation: OperationDefinitionNode): number {
  const root = priced.schema.getRootType(operation.operation);
  const leaf = operation.operation === OperationTypeNode.MUTATION ? LEAF_OF_MUTATION : LEAF;
  return root ? new Pricing(priced, leaf).ofSet(operation.selectionSet, root) : 0;
}

class Pricing {
  readonly #priced: Priced;
  readonly #leaf: number;
  /** Cost of each fragment, so that a bomb of fragments costs no more time than its text. */
  readonly #known = new Map<string, number>();

  constructor(priced: Priced, leaf: number) {
    this.#priced = priced;
    this.#leaf = leaf;
  }

  ofSet(set: SelectionSetNode, type: GraphQLCompositeType): number {
    let sum = 0;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) sum += this.#ofField(selection, type);
      else if (selection.kind === Kind.INLINE_FRAGMENT)
        sum += this.ofSet(selection.selectionSet, this.#condition(selection.typeCondition?.name.value, type));
      else sum += this.#ofFragment(selection.name.value, type);
    }
    return sum;
  }

  #ofFragment(name: string, type: GraphQLCompositeType): number {
    const before = this.#known.get(name);
    if (before !== undefined) return before;
    const fragment = this.#priced.fragments.get(name);
    const cost = fragment
      ? this.ofSet(fragment.selectionSet, this.#condition(fragment.typeCondition.name.value, type))
      : 0;
    this.#known.set(name, cost);
    return cost;
  }

  #condition(name: string | undefined, otherwise: GraphQLCompositeType): GraphQLCompositeType {
    const type = name === undefined ? undefined : this.#priced.schema.getType(name);
    return type !== undefined && isCompositeType(type) ? type : otherwise;
  }

  #ofField(node: FieldNode, parent: GraphQLCompositeType): number {
    const field = this.#definition(node, parent);
    if (field === undefined) return this.#leaf;
    const type = getNamedType(field.type);
    const inner = node.selectionSet && isCompositeType(type) ? this.ofSet(node.selectionSet, type) : 0;
    if (isIntrospectionType(parent) || isIntrospectionType(type)) return ofMetaField(field, inner);

    const { complexity } = field.extensions as { complexity?: number | Estimator };
    const args = this.#args(field, node);
    const failure = args === null && this.#priced.mistaken !== true ? FAILURE : 0;
    if (typeof complexity === 'function') return failure + complexity({ args: args ?? {}, childComplexity: inner });
    const isMutation = parent === this.#priced.schema.getMutationType();
    const own = complexity ?? (isMutation ? MUTATION : isLeafType(type) ? this.#leaf : OBJECT);
    return failure + own + times(field, args ?? {}) * inner;
  }

  #definition(node: FieldNode, parent: GraphQLCompositeType): GraphQLField<unknown, unknown> | undefined {
    const name = node.name.value;
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
    return isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
  }

  /** null: they do not fit. Execution refuses them, naming the place. */
  #args(field: GraphQLField<unknown, unknown>, node: FieldNode): Record<string, unknown> | null {
    if (field.args.length === 0) return {};
    try {
      return getArgumentValues(field, node, this.#priced.variables);
    } catch {
      return null;
    }
  }
}

function times(
  field: GraphQLField<unknown, unknown>,
  { first, fields, anyFields, roles }: Record<string, unknown>,
): number {
  if (field.args.some((arg) => arg.name === 'first'))
    // The resolver refuses a wrong one.
    return typeof first === 'number' ? Math.min(Math.max(first, 1), MAX_FIRST) : DEFAULT_FIRST;
  const lists = [fields, anyFields, roles].filter(Array.isArray);
  if (lists.length > 0) return lists.reduce((sum, list) => sum + list.length, 0);
  // The edges of a connection were multiplied by its `first`.
  const isList = isListType(isNonNullType(field.type) ? field.type.ofType : field.type);
  return isList && field.name !== 'edges' ? (LONG_LIST_TIMES[field.name] ?? LIST_TIMES) : 1;
}

function ofMetaField(field: GraphQLField<unknown, unknown>, inner: number): number {
  if (inner === 0) return META_LEAF;
  const isList = isListType(isNonNullType(field.type) ? field.type.ofType : field.type);
  return META_OBJECT + (isList ? (META_TIMES[field.name] ?? META_LIST_TIMES) : 1) * inner;
}
