import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { UserSchema } from './user.ts';
import { WorkspaceSchema } from './workspace.ts';

/**
 * A view of the device list: a name for the query of its address. `user`: the person whose own it is; null: everybody's
 * in the workspace.
 */
export const DeviceViewSchema = defineEntity({
  name: 'DeviceView',
  tableName: 'device_view',
  properties: {
    id: p.string().length(36).primary(),
    workspace: () => p.manyToOne(WorkspaceSchema).deleteRule('cascade').index(),
    user: () => p.manyToOne(UserSchema).deleteRule('cascade').nullable().index(),
    name: p.string().length(100),
    query: p.text(),
    createdAt: p.bigint('number'),
  },
});

/** A view as a row. */
export type DeviceView = InferEntity<typeof DeviceViewSchema>;
