import { isLongNumber } from '../../domain/text/json-text.ts';
import { GraphQLError, GraphQLScalarType, Kind, type ValueNode, valueFromASTUntyped } from 'graphql';

/** number, boolean or string. The domain checks whether it fits its field (CONTRACT 3). */
export const MeasurementValue = new GraphQLScalarType<number | boolean | string, number | boolean | string>({
  name: 'MeasurementValue',
  description: 'A number, a boolean or a string; a geolocation is the string (lat,lon).',
  serialize: (value) => accept(value),
  parseValue: (value) => accept(value),
  // A bare word is no string, although graphql-js would make it one.
  parseLiteral: (node, variables) => {
    if (node.kind === Kind.ENUM) throw new GraphQLError(`MeasurementValue: write "${node.value}".`, { nodes: node });
    const value = valueFromASTUntyped(node, variables);
    // Its digits are those that were written.
    return isLongNumber(value) && 'value' in node ? String(node.value) : accept(value, node);
  },
});

function accept(value: unknown, node?: ValueNode): number | boolean | string {
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string') return value;
  throw new GraphQLError(
    `MeasurementValue: expected a number, a boolean or a string, got ${Array.isArray(value) ? 'a list' : typeof value}.`,
    { nodes: node },
  );
}
