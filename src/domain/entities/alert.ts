import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { DeviceSchema } from './device.ts';
import { RuleSchema } from './rule.ts';

/** An episode of a rule and a device (CONTRACT 12). Times in ms UTC; `startedAt` and `endedAt` are measured times. */
export const AlertSchema = defineEntity({
  name: 'Alert',
  tableName: 'alert',
  indexes: [
    { properties: ['workspaceId', 'id'] },
    { properties: ['rule', 'id'] },
    { properties: ['device', 'isOpen'] },
    { properties: ['tellAt'] },
  ],
  properties: {
    /** A UUIDv7 of when it was opened. */
    id: p.string().length(36).primary(),
    workspaceId: p.string().length(36),
    rule: () => p.manyToOne(RuleSchema).deleteRule('cascade'),
    device: () => p.manyToOne(DeviceSchema).deleteRule('cascade'),
    state: p.string().length(10),
    severity: p.string().length(10),
    isOpen: p.boolean(),
    startedAt: p.bigint('number'),
    firedAt: p.bigint('number').nullable(),
    endedAt: p.bigint('number').nullable(),
    /** It began and ended within one batch. */
    late: p.boolean(),
    acknowledgedBy: p.string().length(320).nullable(),
    acknowledgedAt: p.bigint('number').nullable(),
    snoozedUntil: p.bigint('number').nullable(),
    /** JSON text: what endpoints were told last (`Told`); null: nothing yet. */
    told: p.text().nullable(),
    /** When to look again for something to tell, by the clock; null: when it changes. */
    tellAt: p.bigint('number').nullable(),
    /** JSON text: a list of `TraceEntry`, the first 20 and the last 80. */
    trace: p.text(),
  },
});

/** An alert as a row. */
export type Alert = InferEntity<typeof AlertSchema>;
