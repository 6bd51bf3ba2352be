import { GraphQLError } from 'graphql';

/** A document that cannot be run as it stands: what graphql-js says of it, each error with its code. */
export class RefusedDocument extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[], code: string) {
    super(errors[0]?.message);
    this.name = 'RefusedDocument';
    this.errors = errors.map(({ message, nodes, source, positions, path, originalError }) => {
      return new GraphQLError(message, { nodes, source, positions, path, originalError, extensions: { code } });
    });
  }
}
