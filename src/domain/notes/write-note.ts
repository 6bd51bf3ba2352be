import type { EntityManager } from '@mikro-orm/sql';
import type { Device } from '../entities/device.ts';
import { type DeviceNote, DeviceNoteSchema, type NoteKind } from '../entities/device-note.ts';
import type { Dialect } from '../ports/database.ts';
import { rowsOf } from '../sql/json-rows.ts';
import { piecesOf } from '../sql/pieces.ts';
import { TransactionSlices } from '../../scheduling/yield-to-event-loop.ts';
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

/** Writes a note on the time line of each of many devices, by their keys, as `writeNote` does for one. */
export async function writeNotes(
  em: EntityManager,
  dialect: Dialect,
  texts: ReadonlyMap<number, string>,
  { kind, at, author, now }: Omit<NewNote, 'text'>,
): Promise<void> {
  const number = (place: number, type: string): string =>
    dialect === 'sqlite' ? `value->>${place}` : `(value->>${place})::${type}`;
  const turns = new TransactionSlices();
  for (const slice of piecesOf([...texts])) {
    await em.execute(
      'delete from device_note where "key" in (select "key" from (select "key", ' +
        'row_number() over (partition by device_key order by at desc, "key" desc) as place from device_note ' +
        `where device_key in (select ${number(0, 'int')} from ${rowsOf(dialect)})) as counted where place >= ?)`,
      [JSON.stringify(slice.map(([key]) => [key])), MAX_NOTES],
      'run',
    );
    await em.execute(
      'insert into device_note (id, device_key, at, kind, text, author, created_at) ' +
        `select value->>0, ${number(1, 'int')}, ${number(2, 'bigint')}, value->>3, value->>4, value->>5, ` +
        `${number(6, 'bigint')} from ${rowsOf(dialect)}`,
      [JSON.stringify(slice.map(([key, text]) => [uuidV7(now), key, at, kind, text, author, now]))],
      'run',
    );
    await turns.next();
  }
}

/** Hands the notes of a device over to another one. */
export async function passNotes(em: EntityManager, from: Device, to: Device): Promise<void> {
  await em.execute('update device_note set device_key = ? where device_key = ?', [to.key, from.key], 'run');
}
