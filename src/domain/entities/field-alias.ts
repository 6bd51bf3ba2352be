import { defineEntity, p } from '@mikro-orm/core';
import { FieldSchema } from './field.ts';
import { ProductSchema } from './product.ts';

/** An earlier identifier of a field, under which senders may go on sending; no field of the product has it. */
export const FieldAliasSchema = defineEntity({
  name: 'FieldAlias',
  tableName: 'field_alias',
  properties: {
    product: () => p.manyToOne(ProductSchema).primary().deleteRule('cascade'),
    identifier: p.string().length(64).primary(),
    field: () => p.manyToOne(FieldSchema).deleteRule('cascade').index(),
  },
});
