import { GraphQLError } from 'graphql';
import type { Executed } from './query-coalescing.ts';

/** The result of an operation that could not be executed to its end. */
export function failed(error: unknown): Executed {
  const originalError = error instanceof Error ? error : new Error(String(error));
  return {
    result: { errors: [new GraphQLError(originalError.message, { originalError })], data: null },
    bytes: 0,
    written: null,
  };
}
