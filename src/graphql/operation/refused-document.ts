import type { GraphQLError } from 'graphql';
import { toldErrors } from '../context/answer-limits.ts';

/** A document that cannot be run: graphql-js's errors, each with its code. */
export class RefusedDocument extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[], code: string) {
    super(errors[0]?.message);
    this.name = 'RefusedDocument';
    this.errors = toldErrors(errors);
    // Made anew, each would look for its place again.
    for (const { extensions } of errors) extensions['code'] = code;
  }
}
