import { defineEntity, p } from '@mikro-orm/core';
import { DeviceSchema } from './device.ts';

/** A device whose plan was changed for one that keeps less: no sweep deletes its values before `until` (ms UTC). */
export const RetentionGraceSchema = defineEntity({
  name: 'RetentionGrace',
  tableName: 'retention_grace',
  properties: {
    device: () => p.manyToOne(DeviceSchema).primary().deleteRule('cascade'),
    until: p.bigint('number'),
  },
});
