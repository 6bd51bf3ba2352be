import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { ProductSchema } from './product.ts';
import type { FieldType } from './field.ts';

/** An identifier that was sent but is no field of the product (CONTRACT 3). */
export const SuggestedFieldSchema = defineEntity({
  name: 'SuggestedField',
  tableName: 'suggested_field',
  properties: {
    product: () => p.manyToOne(ProductSchema).primary().deleteRule('cascade'),
    identifier: p.string().length(64).primary(),
    type: p.string().length(12).$type<FieldType>(),
    lastValue: p.json().$type<unknown>().nullable(),
    /** Name and unit that the sender gave beside the value; null: unknown. */
    name: p.string().length(200).nullable(),
    unit: p.string().length(50).nullable(),
    seen: p.integer(),
    /** True when an admin does not want to be asked again. */
    ignored: p.boolean(),
    lastSeenAt: p.bigint('number'),
  },
});

/** An identifier that was sent but is no field, as a row (CONTRACT 3). */
export type SuggestedField = InferEntity<typeof SuggestedFieldSchema>;
