import { GraphQLError, GraphQLScalarType, valueFromASTUntyped } from 'graphql';

/** Any JSON value, as it is. */
export const Json = new GraphQLScalarType<unknown, unknown>({
  name: 'JSON',
  serialize: (value) => value,
  parseValue: (value) => value,
  parseLiteral(node, variables) {
    const value: unknown = valueFromASTUntyped(node, variables);
    // A literal such as 1e999 is a number of GraphQL, but none of JSON.
    if (!isFinitelyNumbered(value)) throw new GraphQLError('JSON: a number is too large.', { nodes: node });
    return value;
  },
});

function isFinitelyNumbered(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.values(value).every(isFinitelyNumbered);
}
