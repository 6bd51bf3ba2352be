import { request } from '../../api/request.ts';
import type { FieldRole, FieldType } from '../../api/schema-types.ts';
import { useAction } from '../../api/use-action.ts';
import { AddField } from '../../decoding/decoding.graphql.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { givenIn, onSubmit, textsOf } from '../../parts/form-texts.ts';
import { type ProductField, UpdateField } from './product.graphql.ts';

/** What a field may stand for in lists of mixed products, and none. */
export const ROLES: readonly { role: FieldRole | null; text: string }[] = [
  { role: null, text: 'none' },
  { role: 'PRIMARY', text: 'primary value' },
  { role: 'SECONDARY', text: 'secondary value' },
  { role: 'BATTERY', text: 'battery' },
  { role: 'SIGNAL', text: 'signal' },
  { role: 'LOCATION', text: 'location' },
];

const TYPES: readonly { type: FieldType; text: string }[] = [
  { type: 'FLOAT', text: 'number' },
  { type: 'INTEGER', text: 'whole number' },
  { type: 'BOOLEAN', text: 'true or false' },
  { type: 'STRING', text: 'text' },
  { type: 'GEOLOCATION', text: 'place' },
];

interface FieldSheetProps {
  productId: string;
  /** null: a new one. */
  field: ProductField | null;
  onClose: () => void;
  onSaved: () => void;
}

/** Adds a field or changes one; its identifier stays for ever. */
export function FieldSheet({ productId, field, onClose, onSaved }: FieldSheetProps) {
  const saving = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    const given = givenIn(form);
    const input = {
      name: given('name'),
      unit: given('unit'),
      description: given('description'),
      type: text('type') as FieldType,
    };
    if (field === null) await request(AddField, { productId, input: { ...input, identifier: text('identifier') } });
    else await request(UpdateField, { id: field.id, input });
    onSaved();
    onClose();
  });
  return (
    <Dialog title={field === null ? 'Add a field' : `Change ${field.identifier}`} onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(saving.run)}>
        {field === null && (
          <label>
            Identifier
            <input name="identifier" class="mono" required maxLength={64} spellcheck={false} autofocus />
            <small>What senders call it: A-Z a-z 0-9 _ -. It never changes.</small>
          </label>
        )}
        <label>
          Type
          <select name="type">
            {TYPES.map(({ type, text }) => (
              <option key={type} value={type} selected={type === field?.type}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label>
          Name
          <input name="name" maxLength={200} defaultValue={field?.name ?? ''} />
        </label>
        <label>
          Unit
          <input name="unit" maxLength={50} defaultValue={field?.unit ?? ''} />
        </label>
        <label>
          Description
          <textarea name="description" rows={2} maxLength={2000} defaultValue={field?.description ?? ''} />
        </label>
        <FormEnd action={saving} onCancel={onClose}>
          {field === null ? 'Add field' : 'Save'}
        </FormEnd>
      </form>
    </Dialog>
  );
}
