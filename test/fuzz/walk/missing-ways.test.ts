import { readFileSync } from 'node:fs';
import { buildSchema, extendSchema, parse } from 'graphql';
import { expect, test } from 'vitest';
import { missingWays } from './missing-ways.ts';

const schema = buildSchema(readFileSync('schema.graphql', 'utf8'));

test('the walk has a way to every field, argument and mutation of the schema', () => {
  expect(missingWays(schema)).toEqual([]);
});

test('it says what it has no way to', () => {
  const more = `
    type Lonely { id: ID! }
    extend type Query { newOne(id: ID!): Int }
    extend type Mutation { change: Int, changeSome(input: FieldInput!): Field }
    extend type Subscription { told: Int }
    extend input FieldInput { colour: String }
    extend input DecoderRequestInput { origin: String }`;
  expect(missingWays(extendSchema(schema, parse(more)))).toEqual([
    'Mutation.addDecoderExample(request).origin',
    'Mutation.addField(input).colour',
    'Mutation.createProduct(input).fields.colour',
    'Mutation.testDecoder(request).origin',
    'Mutation.changeSome(input)',
    'Query.newOne(id)',
    'Mutation.change',
    'Mutation.changeSome',
    'Subscription.told',
    'Lonely',
  ]);
});
