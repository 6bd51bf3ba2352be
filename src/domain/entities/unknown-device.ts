import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { ProductSchema } from './product.ts';
import { WorkspaceSchema } from './workspace.ts';
import type { Network } from '../networks/network-event.ts';

/**
 * An identifier that a network sent and no device had, or several (CONTRACT 6), or a device name of an entry on a
 * product's webhook. `identity` is the text that is compared; for a webhook the product's id stands before it.
 */
export const UnknownDeviceSchema = defineEntity({
  name: 'UnknownDevice',
  tableName: 'unknown_device',
  uniques: [{ properties: ['workspace', 'identity'] }],
  properties: {
    id: p.string().length(36).primary(),
    workspace: () => p.manyToOne(WorkspaceSchema).deleteRule('cascade'),
    /** The product whose webhook got the name; null: a network's identifier. */
    product: () => p.manyToOne(ProductSchema).deleteRule('cascade').nullable(),
    identifier: p.string().length(200),
    identity: p.string().length(200),
    network: p.string().length(10).$type<Network | 'webhook'>(),
    firstSeenAt: p.bigint('number'),
    lastSeenAt: p.bigint('number'),
    seen: p.integer(),
    /** Time of the adoption, while the device does not have all of its calls yet. */
    adoptedAt: p.bigint('number').nullable(),
    /** Time of the last call while several devices had it. */
    ambiguousAt: p.bigint('number').nullable(),
  },
});

/** An unknown device as a row. */
export type UnknownDevice = InferEntity<typeof UnknownDeviceSchema>;
