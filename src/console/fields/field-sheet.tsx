import type { TargetedEvent } from 'preact';
import { useState } from 'preact/hooks';
import type { DataOf } from '../api/operation.ts';
import { request } from '../api/request.ts';
import type { FieldMeaning, FieldType } from '../api/schema-types.ts';
import { useAction } from '../api/use-action.ts';
import { Dialog } from '../parts/dialog.tsx';
import { FormEnd } from '../parts/form-end.tsx';
import { givenIn, onSubmit, textsOf } from '../parts/form-texts.ts';
import { Note } from '../parts/note.tsx';
import { displayFrom, DisplayInputs, typedDisplay } from './display-inputs.tsx';
import { AddField, RenameField, TryTypeOfField, UpdateField } from './fields.graphql.ts';
import { MEANINGS, meaningsOf, proposedMeaning } from './meanings.ts';
import { FIELD_TYPES, TYPE_WORDS } from './type-words.ts';
import { counted } from '../texts/texts.ts';
import { countText } from '../texts/count-text.ts';

/** A field as the dialog changes it. */
interface EditedField {
  id: string;
  identifier: string;
  name: string | null;
  unit: string | null;
  type: FieldType;
  meaning: FieldMeaning;
  overflowAt: number | null;
  description: string | null;
  display: unknown;
}

/** The parts of a new field that are known before it is added. */
interface SuggestedField {
  identifier: string;
  name: string | null;
  unit: string | null;
  type: FieldType;
}

interface FieldSheetProps {
  productId: string;
  /** The field to change; null: a new one. */
  field: EditedField | null;
  /** The content of the dialog for a new field; left out: empty. */
  suggested?: SuggestedField | null;
  onClose: () => void;
  /** Called with the identifier once it is saved. */
  onSaved: (identifier: string) => void;
}

/** Adds a field or changes one, also its identifier. */
export function FieldSheet({ productId, field, suggested = null, onClose, onSaved }: FieldSheetProps) {
  const first: SuggestedField | null = field ?? suggested;
  const [typed, setTyped] = useState<SuggestedField>({
    identifier: first?.identifier ?? '',
    name: first?.name ?? null,
    unit: first?.unit ?? null,
    type: first?.type ?? 'FLOAT',
  });
  const [display, setDisplay] = useState(() => typedDisplay(field?.display));
  const [chosen, setChosen] = useState<FieldMeaning | null>(field?.meaning ?? null);
  /** The type whose misfits were shown: the next submit saves it. */
  const [warned, setWarned] = useState<{ type: FieldType; text: string } | null>(null);
  const meanings = meaningsOf(typed.type);
  const wanted = chosen ?? proposedMeaning(typed);
  const meaning = meanings.includes(wanted) ? wanted : 'GAUGE';
  const isNewType = field !== null && field.type !== typed.type;
  const saving = useAction(async (form: HTMLFormElement) => {
    const given = givenIn(form);
    const { type } = typed;
    const overflow = given('overflowAt');
    const identifier = textsOf(form)('identifier');
    const input = {
      name: given('name'),
      unit: given('unit'),
      description: given('description'),
      type,
      meaning,
      display: displayFrom(display, type),
      overflowAt: meaning === 'COUNTER' && overflow !== null ? Number(overflow) : null,
    };
    if (field === null) {
      await request(AddField, { productId, input: { ...input, identifier } });
    } else {
      if (isNewType && warned?.type !== type) {
        const { updateField } = await request(TryTypeOfField, { id: field.id, input });
        const text = misfitsText(updateField.misfits);
        if (text !== null) return setWarned({ type, text });
      }
      await request(UpdateField, { id: field.id, input });
      if (identifier !== field.identifier) await request(RenameField, { id: field.id, identifier });
    }
    onSaved(identifier);
    onClose();
  });
  const onInput = (event: TargetedEvent<HTMLFormElement>): void => {
    const [text, given] = [textsOf(event.currentTarget), givenIn(event.currentTarget)];
    const identifier = text('identifier');
    setTyped({ identifier, name: given('name'), unit: given('unit'), type: text('type') as FieldType });
  };
  return (
    <Dialog title={field === null ? 'Add a field' : `Change ${field.identifier}`} onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(saving.run)} onInput={onInput}>
        <label>
          Identifier
          <input
            name="identifier"
            class="mono"
            required
            maxLength={64}
            spellcheck={false}
            autofocus={field === null}
            defaultValue={first?.identifier ?? ''}
          />
          <small>
            {field === null
              ? 'What senders call it: A-Z a-z 0-9 _ -.'
              : 'If it changes, the values stay, and senders may go on under the earlier one.'}
          </small>
        </label>
        <label>
          Type
          <select name="type">
            {FIELD_TYPES.map((type) => (
              <option key={type} value={type} selected={type === first?.type}>
                {TYPE_WORDS[type]}
              </option>
            ))}
          </select>
        </label>
        <label>
          Name
          <input name="name" maxLength={200} defaultValue={first?.name ?? ''} />
        </label>
        <label>
          Unit
          <input name="unit" maxLength={50} defaultValue={first?.unit ?? ''} />
        </label>
        {isMeant(typed.type) && (
          <label>
            Meaning
            <select
              name="meaning"
              value={meaning}
              onChange={(event) => setChosen(event.currentTarget.value as FieldMeaning)}
            >
              {MEANINGS.filter((one) => meanings.includes(one.meaning)).map((one) => (
                <option key={one.meaning} value={one.meaning}>
                  {one.text}
                </option>
              ))}
            </select>
            <small>What its numbers are: charts and differences follow it.</small>
          </label>
        )}
        {meaning === 'COUNTER' && (
          <label>
            Begins again at
            <input name="overflowAt" type="number" step="any" min="0" defaultValue={String(field?.overflowAt ?? '')} />
            <small>Such as 65536 for 16 bits; empty where it does not.</small>
          </label>
        )}
        <label>
          Description
          <textarea name="description" rows={2} maxLength={2000} defaultValue={field?.description ?? ''} />
        </label>
        <DisplayInputs type={typed.type} typed={display} onTyped={setDisplay} />
        {isNewType && warned?.type === typed.type && <Note>{warned.text}</Note>}
        <FormEnd action={saving} onCancel={onClose}>
          {field === null ? 'Add field' : isNewType && warned?.type === typed.type ? 'Save all the same' : 'Save'}
        </FormEnd>
      </form>
    </Dialog>
  );
}

/** True for types whose values have a meaning as numbers: not texts and places. */
function isMeant(type: FieldType): boolean {
  return type !== 'STRING' && type !== 'GEOLOCATION';
}

type Misfits = DataOf<typeof TryTypeOfField>['updateField']['misfits'];

/** A warning about values that do not fit; null: all fit. */
function misfitsText({ misfits, values, devices, ofDevices }: Misfits): string | null {
  if (misfits === 0) return null;
  const some =
    devices < ofDevices
      ? counted(ofDevices, ' of the first {devices} of {count} device', ' of the first {devices} of {count} devices', {
          devices,
        })
      : '';
  return counted(
    misfits,
    '{count} of the stored values ({all}{some}) does not fit this type: it stays, but is hidden until it fits again.',
    '{count} of the stored values ({all}{some}) do not fit this type: they stay, but are hidden until it fits again.',
    { all: countText(values), some },
  );
}
