import { defineEntity, p } from '@mikro-orm/core';

/** A change of an alert, kept for an hour for those who follow. No foreign keys: it may be deleted since. */
export const AlertEventSchema = defineEntity({
  name: 'AlertEvent',
  tableName: 'alert_event',
  indexes: [{ properties: ['at'] }],
  properties: {
    /** In the order of commits. */
    seq: p.bigint('number').primary().autoincrement(false),
    at: p.bigint('number'),
    workspaceId: p.string().length(36),
    deviceKey: p.integer(),
    /** JSON text: the alert as it was (`AlertRow`), with the newest entry of its trace alone. */
    alert: p.text(),
  },
});
