import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { UnknownDeviceSchema } from './unknown-device.ts';

/** A network's call that is kept until its device is adopted (CONTRACT 6). `id` is a UUIDv7 of the receipt time. */
export const UnknownCallSchema = defineEntity({
  name: 'UnknownCall',
  tableName: 'unknown_call',
  properties: {
    id: p.string().length(36).primary(),
    unknownDevice: () => p.manyToOne(UnknownDeviceSchema).deleteRule('cascade').index(),
    receivedAt: p.bigint('number'),
    path: p.text(),
    /** JSON text: name → list of values. */
    query: p.text(),
    /** JSON text: Title-Case name → value; credentials are masked. */
    headers: p.text(),
    body: p.text(),
    /** Id of a call in a product's log, which has all of it but the time; null: kept here. */
    callId: p.string().length(36).nullable(),
  },
});

/** A kept call as a row. */
export type UnknownCall = InferEntity<typeof UnknownCallSchema>;
