import { expect, test } from 'vitest';
import { CheckedDocuments } from '../../src/graphql/operation/checked-documents.ts';
import { parseWithinLimits } from '../../src/graphql/operation/shape-limits.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { repeatedIn, TOO_MUCH } from '../graphql/refused-documents.ts';
import { expectAsFast, leastMs } from './reference.ts';

test('documents with too much of anything are refused as fast as before', () => {
  const took = TOO_MUCH.map(([, , query]) => leastMs(() => expect(() => parseWithinLimits(query)).toThrow()));
  expectAsFast(
    'refusing documents',
    took.reduce((sum, ms) => sum + ms, 0),
  );
});

test('the worst document that passes is validated as fast as before', () => {
  const schema = createSchema(null);
  const worst = repeatedIn(10, 11);
  // Three times as many fragments, which are refused, took seven times as long.
  expectAsFast(
    'validating the worst that passes',
    leastMs(() => new CheckedDocuments(schema).check(worst), 5),
  );
});
