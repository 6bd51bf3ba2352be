import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/**
 * The tenant (CONTRACT 1). `writeRate`: writes per second for each device and field; null: the server's default, 0: no
 * limit.
 */
export const WorkspaceSchema = defineEntity({
  name: 'Workspace',
  tableName: 'workspace',
  properties: {
    id: p.string().length(36).primary(),
    name: p.string().length(200),
    writeRate: p.double().$type<number>().nullable(),
    createdAt: p.bigint('number'),
  },
});

/** A workspace as a row. */
export type Workspace = InferEntity<typeof WorkspaceSchema>;
