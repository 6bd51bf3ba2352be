import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A person. `email` is stored in lower case; `passwordHash` null: cannot sign in, only use tokens. */
export const UserSchema = defineEntity({
  name: 'User',
  tableName: 'user_account',
  properties: {
    id: p.string().length(36).primary(),
    email: p.string().length(320).unique(),
    name: p.string().length(200).nullable(),
    passwordHash: p.string().length(300).nullable(),
    operator: p.boolean(),
    createdAt: p.bigint('number'),
  },
});

/** A user as a row. */
export type User = InferEntity<typeof UserSchema>;
