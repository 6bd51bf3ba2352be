import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { pointCharts } from '../../chart/shared-cursor.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { dateTimeText } from '../../parts/time-text.ts';
import { may } from '../../session/session.ts';
import { localTime, readLocalTime } from '../../time/local-time.ts';
import { AddNote, type NotePart, RemoveNote, UpdateNote } from './device.graphql.ts';
import { counted } from '../../texts/texts.ts';

interface DeviceNotesProps {
  deviceId: string;
  /** Of the device, newest first. */
  notes: readonly NotePart[];
  /** The shown range, in ms; one that ends now has no end. */
  range: { from: number; to: number };
  onChanged: () => void;
}

/** The notes of the shown range, and what adds, changes and removes them. */
export function DeviceNotes({ deviceId, notes, range, onChanged }: DeviceNotesProps) {
  const [edited, setEdited] = useState<NotePart | 'new' | null>(null);
  const isAllowed = may('CONFIGURE');
  const removing = useAction(async (id: string) => {
    await request(RemoveNote, { id });
    onChanged();
  });
  const shown = notesIn(notes, range);
  if (shown.length === 0 && !isAllowed) return null;
  return (
    <section class="notes" aria-label="Notes">
      {isAllowed && (
        <button type="button" class="quiet" onClick={() => setEdited('new')}>
          <Icon name="plus" /> Note
        </button>
      )}
      {removing.error !== null && <Note kind="error">{removing.error}</Note>}
      {shown.length > 0 && (
        <details>
          <summary>{counted(shown.length, '{count} note in this range', '{count} notes in this range')}</summary>
          <ul>
            {shown.map((note) => (
              <li
                key={note.id}
                onMouseEnter={() => pointCharts('device', Date.parse(note.at) / 1_000)}
                onMouseLeave={() => pointCharts('device', null)}
              >
                <time dateTime={note.at}>{dateTimeText(new Date(note.at))}</time>
                <span class="note-text">{note.text}</span>
                <small>{note.author}</small>
                {isAllowed && (
                  <span class="row">
                    <button
                      type="button"
                      class="quiet"
                      aria-label={`Change the note of ${dateTimeText(new Date(note.at))}`}
                      onClick={() => setEdited(note)}
                    >
                      <Icon name="pencil" />
                    </button>
                    <button
                      type="button"
                      class="quiet"
                      aria-label={`Remove the note of ${dateTimeText(new Date(note.at))}`}
                      disabled={removing.busy}
                      onClick={() => void removing.run(note.id)}
                    >
                      <Icon name="trash" />
                    </button>
                  </span>
                )}
              </li>
            ))}
          </ul>
        </details>
      )}
      {edited !== null && (
        <NoteSheet
          deviceId={deviceId}
          note={edited === 'new' ? null : edited}
          onClose={() => setEdited(null)}
          onSaved={onChanged}
        />
      )}
    </section>
  );
}

/** The notes about a range of time. */
function notesIn(notes: readonly NotePart[], { from, to }: DeviceNotesProps['range']): NotePart[] {
  return notes.filter(({ at }) => Date.parse(at) >= from && Date.parse(at) <= to);
}

interface NoteSheetProps {
  deviceId: string;
  /** null: a new one. */
  note: NotePart | null;
  onClose: () => void;
  onSaved: () => void;
}

function NoteSheet({ deviceId, note, onClose, onSaved }: NoteSheetProps) {
  const known = localTime(note === null ? Date.now() : Date.parse(note.at));
  const saving = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    // Left alone, the time keeps its seconds.
    const at = text('at') === known ? {} : { at: readLocalTime(text('at')) };
    if (note === null) await request(AddNote, { deviceId, text: text('text'), ...at });
    else await request(UpdateNote, { id: note.id, text: text('text'), ...at });
    onSaved();
    onClose();
  });
  return (
    <Dialog title={note === null ? 'Add a note' : 'Change the note'} onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(saving.run)}>
        <label>
          Note
          <textarea name="text" rows={3} maxLength={2000} required autofocus defaultValue={note?.text ?? ''} />
        </label>
        <label>
          Time
          <input name="at" type="datetime-local" required defaultValue={known} />
          <small>What the note tells of; every chart of the device marks it.</small>
        </label>
        <FormEnd action={saving} onCancel={onClose}>
          Save
        </FormEnd>
      </form>
    </Dialog>
  );
}
