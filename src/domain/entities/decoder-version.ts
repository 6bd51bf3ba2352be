import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { ProductSchema } from './product.ts';

/** One saved source of a product's decoder; versions count from 1 (CONTRACT 5). */
export const DecoderVersionSchema = defineEntity({
  name: 'DecoderVersion',
  tableName: 'decoder_version',
  properties: {
    product: () => p.manyToOne(ProductSchema).primary().deleteRule('cascade'),
    version: p.integer().primary(),
    note: p.text().nullable(),
    /** The user's address when it was saved, or the name of the token. */
    author: p.string().length(320).nullable(),
    createdAt: p.bigint('number'),
    /** The last column: SQLite reads through everything before a column. */
    source: p.text(),
  },
});

/** A version of a decoder as a row. */
export type DecoderVersion = InferEntity<typeof DecoderVersionSchema>;
