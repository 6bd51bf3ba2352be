// Written by build/console-operations.ts. Do not edit.

/** `TokenKind` of schema.graphql. */
export type TokenKind = 'INDIVIDUAL' | 'PERSONAL';

/** `TokenScope` of schema.graphql. */
export type TokenScope = 'ADMIN' | 'CONFIGURE' | 'READ' | 'RECORD';
