import { GraphQLError } from 'graphql';

/**
 * Whether a promise that nobody waits for was rejected with the error of a field. graphql-js leaves it alone where
 * another item of its list has failed at once: the operation is answered, and all that is known of it is known still.
 */
export function isLeftByGraphql(error: unknown): boolean {
  return error instanceof GraphQLError && error.path !== undefined;
}
