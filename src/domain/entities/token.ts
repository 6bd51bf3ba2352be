import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { UserSchema } from './user.ts';
import { WorkspaceSchema } from './workspace.ts';

/** The kinds of tokens (CONTRACT 1). */
export const TOKEN_KINDS = ['PERSONAL', 'INDIVIDUAL'] as const;

/** PERSONAL acts as its user, INDIVIDUAL has its own scopes in one workspace. */
export type TokenKind = (typeof TOKEN_KINDS)[number];

/** The scopes that a token can have (CONTRACT 1). */
export const TOKEN_SCOPES = ['READ', 'RECORD', 'CONFIGURE', 'ADMIN'] as const;

/** One right of a token in a workspace. */
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/**
 * A secret's record (CONTRACT 1); only the SHA-256 of the secret is kept. PERSONAL has `user`, INDIVIDUAL has
 * `workspace` and `scopes`; `productIds`, `deviceIds` and `fields` (identifiers) null: not limited that way.
 */
export const TokenSchema = defineEntity({
  name: 'Token',
  tableName: 'token',
  properties: {
    id: p.string().length(36).primary(),
    name: p.string().length(200),
    kind: p.string().length(10).$type<TokenKind>(),
    user: () => p.manyToOne(UserSchema).nullable().deleteRule('cascade').index(),
    workspace: () => p.manyToOne(WorkspaceSchema).nullable().deleteRule('cascade').index(),
    scopes: p.json().$type<TokenScope[]>(),
    productIds: p.json().$type<string[]>().nullable(),
    deviceIds: p.json().$type<string[]>().nullable(),
    fields: p.json().$type<string[]>().nullable(),
    hash: p.string().length(64).unique(),
    createdAt: p.bigint('number'),
    lastUsedAt: p.bigint('number').nullable(),
    expiresAt: p.bigint('number').nullable(),
    /** True when made by signing in: things that this person makes may outlive it. */
    signedIn: p.boolean(),
  },
});

/** A token as a row; the secret itself is never stored. */
export type Token = InferEntity<typeof TokenSchema>;
