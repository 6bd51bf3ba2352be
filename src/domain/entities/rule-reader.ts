import { defineEntity, p } from '@mikro-orm/core';

/** The place of the evaluator of rules in the order of commits, and which node it is. One row. */
export const RuleReaderSchema = defineEntity({
  name: 'RuleReader',
  tableName: 'rule_reader',
  properties: {
    share: p.integer().primary().autoincrement(false),
    /** The node that reads, until when (ms UTC). */
    node: p.string().length(36),
    until: p.bigint('number').fieldName('lease_until'),
    /** A cursor of the feed: everything before it was judged; null: it begins now. */
    position: p.text().nullable(),
    /** The newest alert event, and the newest that is no longer kept. */
    seq: p.bigint('number'),
    forgotten: p.bigint('number'),
  },
});
