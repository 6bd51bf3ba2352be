import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { ProductSchema } from './product.ts';

/** The types that a configuration field may have. */
export const CONFIGURATION_TYPES = ['NUMBER', 'STRING', 'BOOLEAN'] as const;
/** Type of the values of a configuration field. */
export type ConfigurationType = (typeof CONFIGURATION_TYPES)[number];

/**
 * A fact about devices that decoders of a product can read (contract ConfigurationField). `key` is the id that clients
 * see, and by which `Device.configuration` refers to the field: it is never reused.
 */
export const ConfigurationFieldSchema = defineEntity({
  name: 'ConfigurationField',
  tableName: 'configuration_field',
  uniques: [{ properties: ['product', 'identifier'] }],
  properties: {
    key: p.integer().primary().autoincrement(),
    product: () => p.manyToOne(ProductSchema).deleteRule('cascade'),
    identifier: p.string().length(64),
    type: p.string().length(10).$type<ConfigurationType>(),
    name: p.string().length(200).nullable(),
    description: p.text().nullable(),
    /** Value of devices without one of their own; null: none. */
    default: p.json().$type<unknown>().nullable().fieldName('default_value'),
  },
});

/** A configuration field as a row. */
export type ConfigurationField = InferEntity<typeof ConfigurationFieldSchema>;
