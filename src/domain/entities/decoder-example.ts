import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { ProductSchema } from './product.ts';

/** A call and the entries expected of it, run on every save (CONTRACT 5). */
export const DecoderExampleSchema = defineEntity({
  name: 'DecoderExample',
  tableName: 'decoder_example',
  uniques: [{ properties: ['product', 'name'] }],
  properties: {
    id: p.string().length(36).primary(),
    product: () => p.manyToOne(ProductSchema).deleteRule('cascade'),
    name: p.string().length(200),
    request: p.json().$type<unknown>(),
    expected: p.json().$type<unknown>(),
    createdAt: p.bigint('number'),
  },
});

/** A stored example of a decoder as a row. */
export type DecoderExample = InferEntity<typeof DecoderExampleSchema>;
