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
    createdAt: p.bigint('number'),
    /** Up to 256 KiB each and read apart (`readExamples`): therefore lazy, and the last columns. */
    request: p.json().$type<unknown>().lazy(),
    expected: p.json().$type<unknown>().lazy(),
  },
});

/** A stored example of a decoder as a row; reading it leaves out `request` and `expected`. */
export type DecoderExample = InferEntity<typeof DecoderExampleSchema>;
