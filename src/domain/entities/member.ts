import { defineEntity, p } from '@mikro-orm/core';
import { UserSchema } from './user.ts';
import { WorkspaceSchema } from './workspace.ts';

/** The roles of members, each with all rights of those before it. */
export const ROLES = ['VIEWER', 'EDITOR', 'ADMIN'] as const;

/** A member's role in a workspace; `scopesOfRole` gives its scopes. */
export type Role = (typeof ROLES)[number];

/** A user's role in one workspace. */
export const MemberSchema = defineEntity({
  name: 'Member',
  tableName: 'member',
  properties: {
    workspace: () => p.manyToOne(WorkspaceSchema).primary().deleteRule('cascade'),
    user: () => p.manyToOne(UserSchema).primary().deleteRule('cascade').index(),
    role: p.string().length(10).$type<Role>(),
  },
});
