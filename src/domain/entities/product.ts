import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { SealedParts } from '../keys/same-input.ts';
import { WorkspaceSchema } from './workspace.ts';

/** The ways in which a product's devices send: own API or webhook, a LoRaWAN network, Particle. */
export const DEVICE_TYPES = ['API', 'LORAWAN', 'PARTICLE'] as const;

/** The way in which a product's devices send. */
export type DeviceType = (typeof DEVICE_TYPES)[number];

/**
 * The properties that devices share (CONTRACT 1). `key` is the small number that measurements and calls carry; `id` is
 * what clients see, `authorKey` the contract's `key`. `searchText` is the lower-cased name, so that search means the same on both databases.
 */
export const ProductSchema = defineEntity({
  name: 'Product',
  tableName: 'product',
  uniques: [{ properties: ['workspace', 'authorKey'] }],
  properties: {
    key: p.integer().primary().autoincrement(),
    id: p.string().length(36).unique(),
    workspace: () => p.manyToOne(WorkspaceSchema).deleteRule('cascade').index(),
    name: p.string().length(200),
    searchText: p.string().length(200),
    deviceType: p.string().length(10).$type<DeviceType>(),
    webhookId: p.string().length(64).unique(),
    offlineAfterSeconds: p.integer().nullable(),
    /** True when the place (0,0) means no fix, and is not stored. */
    ignoreZeroPlaces: p.boolean().default(false),
    /** IANA zone of times without one; null: UTC. */
    timeZone: p.string().length(64).nullable(),
    writeRate: p.double().$type<number>().nullable(),
    /** The version of the active decoder; null: no decoder. */
    activeVersion: p.integer().nullable(),
    createdAt: p.bigint('number'),
    /** Set while it is being deleted: it is no longer found, and its devices are deleted slice by slice. */
    deletedAt: p.bigint('number').nullable(),
    /** The key of its author's choice (CONTRACT 11); null: none. Freed when its deletion begins. */
    authorKey: p.string().length(64).nullable(),
    /** Up to 256 KiB and read apart (`readDashboards`). Last: SQLite reads through everything before a column. */
    dashboard: p.json().$type<unknown>().lazy(),
    /** The input that made it, if that had a key (`same-input`). */
    createdFrom: p.json().$type<SealedParts>().nullable().lazy(),
  },
});

/** A product as a row; reading it leaves out `dashboard` and `createdFrom`. */
export type Product = InferEntity<typeof ProductSchema>;
