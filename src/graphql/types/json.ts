import { GraphQLError, GraphQLScalarType, valueFromASTUntyped } from 'graphql';

/** Maximum levels per value: it is walked again later, by code that overflows the stack at some depth. */
const MAX_DEPTH = 500;

/** Any JSON value, as it is. */
export const Json = new GraphQLScalarType<unknown, unknown>({
  name: 'JSON',
  description: `Any JSON value; where it is given, nested at most ${MAX_DEPTH} levels deep.`,
  serialize: (value) => value,
  parseValue(value) {
    if (isDeeper(value, MAX_DEPTH)) throw new GraphQLError(`JSON: nested deeper than ${MAX_DEPTH} levels.`);
    return value;
  },
  parseLiteral(node, variables) {
    const value: unknown = valueFromASTUntyped(node, variables);
    // A literal such as 1e999 is a number of GraphQL, but none of JSON.
    if (!isFinitelyNumbered(value)) throw new GraphQLError('JSON: a number is too large.', { nodes: node });
    return value;
  },
});

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}

function isFinitelyNumbered(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isFinitelyNumbered);
}
