import { defineEntity, p } from '@mikro-orm/core';

/** What the rules of its product make of a device: one row, as every value moves all of them. */
export const RuleStateSchema = defineEntity({
  name: 'RuleState',
  tableName: 'rule_state',
  indexes: [{ properties: ['dueAt'] }],
  properties: {
    /** No foreign key: a value may be judged while its device is deleted. */
    deviceKey: p.integer().primary().autoincrement(false),
    /** JSON text: key of a rule → `KeptState`. */
    states: p.text(),
    /** Time by the clock at which one of them changes without a value; null: never. In ms UTC. */
    dueAt: p.bigint('number').nullable(),
  },
});
