import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { ProductSchema } from './product.ts';
import { WorkspaceSchema } from './workspace.ts';
import { TagListType } from './tag-list.ts';

/**
 * A device (CONTRACT 1). `key` is the small number that measurements carry, `id` the UUID that clients see.
 * `serialFolded`: the `deviceIdentity` of the serial number, by which EUIs and core ids are found (CONTRACT 6); for
 * other numbers that are older than migration 0009 it is in lower case, and is never searched. `searchText`:
 * what a list sorts by and searches (`deviceSearchText`).
 */
export const DeviceSchema = defineEntity({
  name: 'Device',
  tableName: 'device',
  uniques: [{ properties: ['product', 'serialNumber'] }],
  indexes: [
    { properties: ['workspace', 'serialNumber'] },
    { properties: ['workspace', 'serialFolded'] },
    { properties: ['workspace', 'plan'] },
  ],
  properties: {
    key: p.integer().primary().autoincrement(),
    id: p.string().length(36).unique(),
    workspace: () => p.manyToOne(WorkspaceSchema).deleteRule('cascade'),
    product: () => p.manyToOne(ProductSchema).deleteRule('cascade'),
    name: p.string().length(200),
    serialNumber: p.string().length(200),
    serialFolded: p.string().length(200),
    searchText: p.text(),
    plan: p.string().length(50),
    tags: p.type(TagListType).$type<string[]>(),
    location: p.string().length(500).nullable(),
    /** The device's own; null: the product's. */
    offlineAfterSeconds: p.integer().nullable(),
    writeRate: p.double().$type<number>().nullable(),
    createdAt: p.bigint('number'),
    // Both may be long and are never read with the device (`long-json.ts`). Last: SQLite reads through everything
    // before a column.
    /** Key of a configuration field → the device's own value. */
    configuration: p.json().$type<Record<string, unknown>>().nullable().lazy(),
    metadata: p.json().$type<unknown>().nullable().lazy(),
  },
});

/** A device as a row; reading it leaves out `configuration` and `metadata`. */
export type Device = InferEntity<typeof DeviceSchema>;
