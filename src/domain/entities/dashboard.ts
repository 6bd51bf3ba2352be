import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { WorkspaceSchema } from './workspace.ts';

/** A dashboard over devices of a workspace; that of a product is in its row. `id` is what clients see. */
export const DashboardSchema = defineEntity({
  name: 'Dashboard',
  tableName: 'dashboard',
  properties: {
    key: p.integer().primary().autoincrement(),
    id: p.string().length(36).unique(),
    workspace: () => p.manyToOne(WorkspaceSchema).deleteRule('cascade').index(),
    name: p.string().length(200),
    createdAt: p.bigint('number'),
    /** JSON text of its widgets, up to 256 KiB and read apart. Last: SQLite reads through everything before a column. */
    widgets: p.text().lazy(),
  },
});

/** A dashboard as a row; reading it leaves out the widgets. */
export type Dashboard = InferEntity<typeof DashboardSchema>;
