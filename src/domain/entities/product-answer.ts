import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { ProductSchema } from './product.ts';

/**
 * How the senders of a product are answered where that was set (CONTRACT 3, 4); no row: as it comes. Beside the product,
 * whose dashboard SQLite would read through to get here.
 */
export const ProductAnswerSchema = defineEntity({
  name: 'ProductAnswer',
  tableName: 'product_answer',
  properties: {
    product: () => p.manyToOne(ProductSchema).primary().deleteRule('cascade'),
    /** 1: 200 wherever something was stored or kept. */
    always200: p.integer(),
    /** What its webhook answers for calls that are kept: JSON text of `{status, contentType, body}`; null: the counts. */
    webhook: p.text().nullable(),
  },
});

/** The row of a product. */
export type ProductAnswer = InferEntity<typeof ProductAnswerSchema>;
