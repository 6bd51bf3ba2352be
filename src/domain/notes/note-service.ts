import type { EntityManager } from '@mikro-orm/sql';
import { badInput, notFound } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { findDevice, placeOfDevice } from '../access/find-device.ts';
import { authorOf } from '../access/who-is.ts';
import type { Device } from '../entities/device.ts';
import { type DeviceNote, DeviceNoteSchema } from '../entities/device-note.ts';
import type { Database } from '../ports/database.ts';
import { checkText } from '../text/text.ts';
import { MAX_NOTE, writeNote } from './write-note.ts';

const TEXT = { max: MAX_NOTE, multiline: true } as const;

/** A range of time, from inclusive, to exclusive (ms UTC); left out: no bound. */
interface Range {
  from?: number | null | undefined;
  to?: number | null | undefined;
}

/** Left out: unchanged. */
interface NoteChange {
  text?: string | null | undefined;
  at?: number | null | undefined;
}

/** Notes on the time lines of devices. */
export class NoteService {
  readonly #database: Database;
  readonly #now: () => number;

  constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /** The notes of a device that the caller may see, newest first. */
  ofDevice(deviceKey: number, { from, to }: Range, limit: number): Promise<DeviceNote[]> {
    const at = { ...(from == null ? {} : { $gte: from }), ...(to == null ? {} : { $lt: to }) };
    const where = { device: deviceKey, ...(Object.keys(at).length === 0 ? {} : { at }) };
    return this.#database.read().find(DeviceNoteSchema, where, { orderBy: { at: 'desc', key: 'desc' }, limit });
  }

  /** Writes a note about a time (ms UTC); left out: now. */
  async add(access: Access, deviceId: string, { text, at }: { text: string; at?: number | null }): Promise<DeviceNote> {
    const checked = checkText(text, 'text', TEXT);
    return this.#database.write(async (em) => {
      const device = await findDevice(em, access, deviceId, 'CONFIGURE');
      const [author, now] = [await authorOf(em, access.tokenId), this.#now()];
      return writeNote(em, device, { kind: 'WRITTEN', text: checked, at: at ?? now, author, now });
    });
  }

  async update(access: Access, id: string, { text, at }: NoteChange): Promise<DeviceNote> {
    if (text === null || at === null) throw badInput('A note keeps its text and time; leave out what is to stay.');
    return this.#database.write(async (em) => {
      const note = await find(em, access, id);
      if (text !== undefined) note.text = checkText(text, 'text', TEXT);
      if (at !== undefined) note.at = at;
      return note;
    });
  }

  /** Removes a note; resolves with its id. */
  async remove(access: Access, id: string): Promise<string> {
    const note = await this.#database.write(async (em) => {
      const found = await find(em, access, id);
      await em.nativeDelete(DeviceNoteSchema, { key: found.key });
      return found;
    });
    return note.id;
  }
}

async function find(em: EntityManager, access: Access, id: string): Promise<DeviceNote> {
  const note = id.includes('\0')
    ? null
    : await em.findOne(DeviceNoteSchema, { id: id.toLowerCase() }, { populate: ['device', 'device.product'] });
  const device = note?.device as Device | undefined;
  if (note === null || device === undefined || !access.coversDevice(placeOfDevice(device))) throw notFound('note', id);
  access.requireDevice(placeOfDevice(device), 'CONFIGURE');
  return note;
}
