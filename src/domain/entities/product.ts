import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { WorkspaceSchema } from './workspace.ts';

/** The ways in which a product's devices send: own API or webhook, a LoRaWAN network, Particle. */
export const DEVICE_TYPES = ['API', 'LORAWAN', 'PARTICLE'] as const;

/** How the devices of a product send. */
export type DeviceType = (typeof DEVICE_TYPES)[number];

/**
 * What all its devices share (CONTRACT 1). `key` is the small number that measurements and calls carry; `id` is what
 * clients see. `searchText` is the lower-cased name, so that search means the same on both databases.
 */
export const ProductSchema = defineEntity({
  name: 'Product',
  tableName: 'product',
  properties: {
    key: p.integer().primary().autoincrement(),
    id: p.string().length(36).unique(),
    workspace: () => p.manyToOne(WorkspaceSchema).deleteRule('cascade').index(),
    name: p.string().length(200),
    searchText: p.string().length(200),
    deviceType: p.string().length(10).$type<DeviceType>(),
    webhookId: p.string().length(64).unique(),
    offlineAfterSeconds: p.integer().nullable(),
    /** The place (0,0) is no fix, and not stored. */
    ignoreZeroPlaces: p.boolean().default(false),
    /** IANA zone of times that name none; null: UTC. */
    timeZone: p.string().length(64).nullable(),
    writeRate: p.double().$type<number>().nullable(),
    /** The version of the active decoder; null: no decoder. */
    activeVersion: p.integer().nullable(),
    createdAt: p.bigint('number'),
    /** Its deletion is under way: it is found no more, and its devices go slice by slice. */
    deletedAt: p.bigint('number').nullable(),
    /** Up to 256 KiB: read by itself, by who asks for it (`readDashboards`). Last: SQLite reads through what stands before. */
    dashboard: p.json().$type<unknown>().lazy(),
  },
});

/** A product as a row; one that was read has no `dashboard`. */
export type Product = InferEntity<typeof ProductSchema>;
