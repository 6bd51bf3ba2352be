import {
  type FieldNode,
  getArgumentValues,
  getNamedType,
  type GraphQLCompositeType,
  type GraphQLField,
  isIntrospectionType,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql';
import { MAX_VALUES } from '../context/answer-limits.ts';
import { DEFAULT_FIRST, MAX_FIRST } from '../paging/page.ts';

/** Maximum cost per operation. A page of 50 devices with product, fields and latest values is about 2,000. */
export const MAX_COST = 25_000;

const OBJECT = 1;
/** Cost of a value in an answer. */
export const LEAF = 0.1;
/** Cost of a value in a mutation's answer: within its price no answer has more than MAX_VALUES. */
export const LEAF_OF_MUTATION = MAX_COST / MAX_VALUES;
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

/** Variables as prices see them. */
interface Given {
  /** Coerced: defaults filled in, as the resolvers will see them. */
  variables: Readonly<Record<string, unknown>>;
  /** Some do not fit, and nothing will run: the variables are incomplete. */
  mistaken: boolean;
  /** Prices of fragments with these variables. */
  known: Map<Price, number>;
}

/** A price, or how it follows from the variables. */
export type Price = number | ((given: Given) => number);

/** The amount of a price with variables that were coerced; `mistaken`: some of them do not fit. */
export function costOf(price: Price, variables: Given['variables'], mistaken = false): number {
  return amount(price, { variables, mistaken, known: new Map() });
}

function amount(price: Price, given: Given): number {
  return typeof price === 'number' ? price : price(given);
}

/** The sum of prices, always added up in their order. */
export function sumOf(prices: readonly Price[]): Price {
  const end = prices.findIndex((price) => typeof price !== 'number');
  const add = (sum: number, price: Price): number => sum + (price as number);
  if (end === -1) return prices.reduce(add, 0);
  const [before, rest] = [prices.slice(0, end).reduce(add, 0), prices.slice(end)];
  return (given) => rest.reduce<number>((sum, price) => sum + amount(price, given), before);
}

/** The same price, found once for the same variables however often it is asked for. */
export function onceEach(price: Price): Price {
  if (typeof price === 'number') return price;
  return (given) => {
    let known = given.known.get(price);
    if (known === undefined) given.known.set(price, (known = price(given)));
    return known;
  };
}

/** The price of a list of at most `first` items, of `usual` where that is left out; `each`: of one with its parts. */
export function priceOfList(first: unknown, usual: number, each: number): number {
  return OBJECT + Math.max(1, typeof first === 'number' ? first : usual) * each;
}

/** The price of a mutation that does something for each item of a list; `each`: with what it answers of it. */
export function priceOfEach(list: unknown, each: number): number {
  return MUTATION + (Array.isArray(list) ? list.length : 1) * each;
}

interface PricedField {
  node: FieldNode;
  field: GraphQLField<unknown, unknown>;
  parent: GraphQLCompositeType;
  /** Whether it is a field of the mutation type. */
  isMutation: boolean;
  /** Whether no variable stands in its arguments. */
  isFixed: boolean;
  /** Cost of a value. */
  leaf: number;
}

/**
 * The maximum price of a field; `inner`: of all that is selected in it. Each object costs 1, each value 0.1, lists times
 * their `first`, the length of the list that they are asked for (`fields`), or the usual length of such lists; a field
 * with type-graphql's `complexity` costs that: a number for itself, or a function of its arguments and of its children's
 * cost for the whole.
 */
export function priceOfField({ node, field, parent, isMutation, isFixed, leaf }: PricedField, inner: Price): Price {
  const type = getNamedType(field.type);
  // What is below has no other price than its own, whatever its arguments.
  if (isIntrospectionType(parent) || isIntrospectionType(type)) return ofMetaField(field, inner as number);

  const { complexity } = field.extensions as { complexity?: number | Estimator };
  const own = isMutation ? MUTATION : isLeafType(type) ? leaf : OBJECT;
  const price = (args: Record<string, unknown> | null, within: number, mistaken: boolean): number => {
    const failure = args === null && !mistaken ? FAILURE : 0;
    if (typeof complexity === 'function') return failure + complexity({ args: args ?? {}, childComplexity: within });
    return failure + (complexity ?? own) + times(field, args ?? {}) * within;
  };
  const fixed = isFixed ? argsOf(field, node, {}) : null;
  if (fixed === null)
    return (given) => price(argsOf(field, node, given.variables), amount(inner, given), given.mistaken);
  if (typeof inner === 'number') return price(fixed, inner, false);
  return (given) => price(fixed, inner(given), given.mistaken);
}

/** null: they do not fit. Execution refuses them, naming the place. */
function argsOf(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  variables: Given['variables'],
): Record<string, unknown> | null {
  if (field.args.length === 0) return {};
  try {
    return getArgumentValues(field, node, variables);
  } catch {
    return null;
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
