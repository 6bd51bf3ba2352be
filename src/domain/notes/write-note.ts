import type { EntityManager } from '@mikro-orm/sql';
import type { Device } from '../entities/device.ts';
import { type DeviceNote, DeviceNoteSchema, type NoteKind } from '../entities/device-note.ts';
import { uuidV7 } from '../text/uuid.ts';

/** Maximum notes of a device; the oldest go. */
const MAX_NOTES = 1_000;
/** Maximum characters of a note. */
export const MAX_NOTE = 2_000;

/** A note to be, its text checked. */
interface NewNote {
  kind: NoteKind;
  text: string;
  /** In ms UTC. */
  at: number;
  author: string | null;
  now: number;
}

/** Writes a note on the time line of a device, in the transaction of `em`; beyond MAX_NOTES the oldest of it goes. */
export async function writeNote(em: EntityManager, device: Device, { now, ...note }: NewNote): Promise<DeviceNote> {
  const { key } = device;
  await em.execute(
    'delete from device_note where "key" in ' +
      '(select "key" from device_note where device_key = ? order by at desc, "key" desc limit 100 offset ?)',
    [key, MAX_NOTES - 1],
    'run',
  );
  return em.create(DeviceNoteSchema, { id: uuidV7(now), device, ...note, createdAt: now });
}

/** Hands the notes of a device over to another one. */
export async function passNotes(em: EntityManager, from: Device, to: Device): Promise<void> {
  await em.execute('update device_note set device_key = ? where device_key = ?', [to.key, from.key], 'run');
}
