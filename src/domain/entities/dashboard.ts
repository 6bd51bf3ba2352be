import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { SealedParts } from '../keys/same-input.ts';
import { WorkspaceSchema } from './workspace.ts';

/**
 * A dashboard over devices of a workspace; that of a product is in its row. `id` is what clients see, `authorKey` the
 * contract's `key`.
 */
export const DashboardSchema = defineEntity({
  name: 'Dashboard',
  tableName: 'dashboard',
  uniques: [{ properties: ['workspace', 'authorKey'] }],
  properties: {
    key: p.integer().primary().autoincrement(),
    id: p.string().length(36).unique(),
    workspace: () => p.manyToOne(WorkspaceSchema).deleteRule('cascade').index(),
    name: p.string().length(200),
    createdAt: p.bigint('number'),
    /** The key of its author's choice (CONTRACT 11); null: none. */
    authorKey: p.string().length(64).nullable(),
    /** The input that made it, if that had a key (`same-input`). */
    createdFrom: p.json().$type<SealedParts>().nullable().lazy(),
    /** JSON text of its widgets, up to 256 KiB and read apart. Last: SQLite reads through everything before a column. */
    widgets: p.text().lazy(),
  },
});

/** A dashboard as a row; reading it leaves out the widgets. */
export type Dashboard = InferEntity<typeof DashboardSchema>;
