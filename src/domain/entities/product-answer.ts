import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { ProductSchema } from './product.ts';

/**
 * The configured answer to senders of a product (CONTRACT 3, 4); no row: the default. Apart from the product, whose
 * dashboard SQLite would read through.
 */
export const ProductAnswerSchema = defineEntity({
  name: 'ProductAnswer',
  tableName: 'product_answer',
  properties: {
    product: () => p.manyToOne(ProductSchema).primary().deleteRule('cascade'),
    /** 1: 200 wherever something was stored or kept. */
    always200: p.integer(),
    /** The webhook's answer for calls that are kept: JSON text of `{status, contentType, body}`; null: the counts. */
    webhook: p.text().nullable(),
  },
});

/** The row of a product. */
export type ProductAnswer = InferEntity<typeof ProductAnswerSchema>;
