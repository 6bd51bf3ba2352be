import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { DeviceSchema } from './device.ts';

/** What notes on the time line of a device tell of. */
export const NOTE_KINDS = ['WRITTEN', 'REPLACED', 'MOVED', 'CONFIGURED', 'CHANGED'] as const;
/** One of `NOTE_KINDS`. */
export type NoteKind = (typeof NOTE_KINDS)[number];

/** A note on the time line of a device: by people, or by the server about a change of the device. */
export const DeviceNoteSchema = defineEntity({
  name: 'DeviceNote',
  tableName: 'device_note',
  indexes: [{ properties: ['device', 'at'] }],
  properties: {
    key: p.integer().primary().autoincrement(),
    id: p.string().length(36).unique(),
    device: () => p.manyToOne(DeviceSchema).deleteRule('cascade'),
    /** The time that it tells of, in ms UTC. */
    at: p.bigint('number'),
    kind: p.string().length(12).$type<NoteKind>(),
    text: p.text(),
    /** The address of a person, or the name of a token; null: unknown. */
    author: p.string().length(320).nullable(),
    createdAt: p.bigint('number'),
  },
});

/** A note as a row. */
export type DeviceNote = InferEntity<typeof DeviceNoteSchema>;
