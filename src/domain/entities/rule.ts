import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { SealedParts } from '../keys/same-input.ts';
import { ProductSchema } from './product.ts';
import { TagListType } from './tag-list.ts';
import { WorkspaceSchema } from './workspace.ts';

/**
 * A rule that watches the devices of a product (CONTRACT 12). `id` is what clients see, `authorKey` the contract's
 * `key`; the workspace is that of the product.
 */
export const RuleSchema = defineEntity({
  name: 'Rule',
  tableName: 'rule',
  uniques: [{ properties: ['workspace', 'authorKey'] }],
  properties: {
    key: p.integer().primary().autoincrement(),
    id: p.string().length(36).unique(),
    workspace: () => p.manyToOne(WorkspaceSchema).deleteRule('cascade'),
    product: () => p.manyToOne(ProductSchema).deleteRule('cascade').index(),
    name: p.string().length(200),
    enabled: p.boolean(),
    /** Devices with all of these tags; empty: every device. */
    tags: p.type(TagListType).$type<string[]>(),
    /** JSON text of a `RuleDefinition`, up to 64 KiB. */
    definition: p.text(),
    /** JSON text of a `Notify`; null: every endpoint that wants such events, once. */
    notify: p.text().nullable(),
    /** Counts its changes: devices judged by an earlier one are judged again. */
    revision: p.integer(),
    /** The revision by which all its devices have been judged. */
    judgedRevision: p.integer(),
    createdAt: p.bigint('number'),
    /** The key of its author's choice (CONTRACT 11); null: none. */
    authorKey: p.string().length(64).nullable(),
    /** The input that made it, if that had a key (`same-input`). */
    createdFrom: p.json().$type<SealedParts>().nullable().lazy(),
  },
});

/** A rule as a row. */
export type Rule = InferEntity<typeof RuleSchema>;
