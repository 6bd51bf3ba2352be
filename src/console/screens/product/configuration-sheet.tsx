import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import type { ConfigurationType } from '../../api/schema-types.ts';
import { useAction } from '../../api/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { givenIn, onSubmit, textsOf } from '../../parts/form-texts.ts';
import { AddConfiguration, type ProductConfiguration, UpdateConfiguration } from './product.graphql.ts';
import { t } from '../../texts/texts.ts';

/** Names of the types of configuration fields. */
export const CONFIGURATION_TYPES: Record<ConfigurationType, string> = {
  NUMBER: 'number',
  STRING: 'text',
  BOOLEAN: t('true or false'),
};

interface ConfigurationSheetProps {
  productId: string;
  /** The field to change; null: a new one. */
  field: ProductConfiguration | null;
  onClose: () => void;
  onSaved: () => void;
}

/** Adds a configuration field or changes one; its identifier and type never change. */
export function ConfigurationSheet({ productId, field, onClose, onSaved }: ConfigurationSheetProps) {
  const [type, setType] = useState<ConfigurationType>(field?.type ?? 'NUMBER');
  const saving = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    const given = givenIn(form);
    const input = {
      name: given('name'),
      description: given('description'),
      default: readDefault(type, text('default')),
    };
    if (field === null)
      await request(AddConfiguration, { productId, input: { ...input, type, identifier: text('identifier') } });
    else await request(UpdateConfiguration, { id: field.id, input });
    onSaved();
    onClose();
  });
  const known = defaultText(field?.default);
  return (
    <Dialog title={field === null ? 'Add a configuration field' : `Change ${field.identifier}`} onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(saving.run)}>
        {field === null && (
          <>
            <label>
              Identifier
              <input name="identifier" class="mono" required maxLength={64} spellcheck={false} autofocus />
              <small>By which the decoder reads it: A-Z a-z 0-9 _ -. It never changes.</small>
            </label>
            <label>
              Type
              <select value={type} onChange={(event) => setType(event.currentTarget.value as ConfigurationType)}>
                {Object.entries(CONFIGURATION_TYPES).map(([one, text]) => (
                  <option key={one} value={one}>
                    {text}
                  </option>
                ))}
              </select>
            </label>
          </>
        )}
        <label>
          Default
          {type === 'BOOLEAN' ? (
            <select name="default" key="choice">
              {['', 'true', 'false'].map((one) => (
                <option key={one} value={one} selected={one === known}>
                  {one === '' ? 'none' : one}
                </option>
              ))}
            </select>
          ) : type === 'NUMBER' ? (
            <input key="number" name="default" type="number" step="any" defaultValue={known} />
          ) : (
            <input key="text" name="default" maxLength={4096} defaultValue={known} />
          )}
          <small>For devices that have no value of their own; empty: none.</small>
        </label>
        <label>
          Name
          <input name="name" maxLength={200} defaultValue={field?.name ?? ''} />
        </label>
        <label>
          Description
          <textarea name="description" rows={2} maxLength={2000} defaultValue={field?.description ?? ''} />
        </label>
        <FormEnd action={saving} onCancel={onClose}>
          {field === null ? 'Add it' : 'Save'}
        </FormEnd>
      </form>
    </Dialog>
  );
}

/** A default as people write it; the empty text for none. */
export function defaultText(value: unknown): string {
  if (value == null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function readDefault(type: ConfigurationType, text: string): number | string | boolean | null {
  if (text === '') return null;
  return type === 'NUMBER' ? Number(text) : type === 'BOOLEAN' ? text === 'true' : text;
}
