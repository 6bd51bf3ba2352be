import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { Role } from './member.ts';
import { UserSchema } from './user.ts';
import { WorkspaceSchema } from './workspace.ts';

/**
 * A link that lets somebody in once: INVITATION of `email` to a workspace with a role, or RESET of a user's password.
 * `hash`: of its secret, the only form in which that is stored.
 */
export const AccessLinkSchema = defineEntity({
  name: 'AccessLink',
  tableName: 'access_link',
  properties: {
    id: p.string().length(36).primary(),
    kind: p.string().length(10).$type<'INVITATION' | 'RESET'>(),
    hash: p.string().length(64).unique(),
    email: p.string().length(320),
    workspace: () => p.manyToOne(WorkspaceSchema).deleteRule('cascade').nullable().index(),
    role: p.string().length(10).$type<Role>().nullable(),
    user: () => p.manyToOne(UserSchema).deleteRule('cascade').nullable().index(),
    createdAt: p.bigint('number'),
    expiresAt: p.bigint('number'),
  },
});

/** A link as a row. */
export type AccessLink = InferEntity<typeof AccessLinkSchema>;
