import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import type { FieldRole } from '../../api/schema-types.ts';
import { useAction } from '../../api/use-action.ts';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { pickWithKeys } from '../../parts/pick-with-keys.ts';
import { toast } from '../../parts/toasts.tsx';
import { may } from '../../session/session.ts';
import { FieldSheet } from '../../fields/field-sheet.tsx';
import { ROLES } from '../../fields/role-words.ts';
import { TYPE_WORDS } from '../../fields/type-words.ts';
import { UpdateField } from '../../fields/fields.graphql.ts';
import { FieldUse } from './field-use.tsx';
import { type ProductField, RemoveField } from './product.graphql.ts';
import { RemoveFieldDialog } from './remove-field-dialog.tsx';
import { RowChanges } from './row-changes.tsx';
import { t } from '../../texts/texts.ts';

interface FieldsCardProps {
  productId: string;
  fields: readonly ProductField[];
  onChanged: () => void;
}

/** The fields of a product, with their roles. */
export function FieldsCard({ productId, fields, onChanged }: FieldsCardProps) {
  const [edited, setEdited] = useState<ProductField | 'new' | null>(null);
  const [removed, setRemoved] = useState<ProductField | null>(null);
  const isAllowed = may('CONFIGURE');
  const giving = useAction(async (field: ProductField, role: FieldRole | null) => {
    await request(UpdateField, { id: field.id, input: { role } });
    onChanged();
  });
  const removing = useAction(async ({ id, identifier }: ProductField) => {
    await request(RemoveField, { id });
    toast(t('The field {identifier} is gone.', { identifier }));
    setRemoved(null);
    onChanged();
  });
  return (
    <section class="card" aria-labelledby="fields-title">
      <div class="card-head">
        <h2 id="fields-title" class="grow" tabIndex={-1}>
          Fields
        </h2>
        {isAllowed && (
          <button type="button" onClick={() => setEdited('new')}>
            <Icon name="plus" /> Add field
          </button>
        )}
      </div>
      {giving.error !== null && <Note kind="error">{giving.error}</Note>}
      {fields.length === 0 ? (
        <p class="hint nothing">Nothing is measured yet: add a field, or send something and add what is suggested.</p>
      ) : (
        <div class="scroll-x">
          <table class="fields measured">
            <thead>
              <tr>
                <th>Identifier</th>
                <th>Name</th>
                <th>Type</th>
                <th>Unit</th>
                <th>Role</th>
                <th>
                  <span class="unseen">Changes</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {fields.map((field) => (
                <tr key={field.id} id={field.identifier}>
                  <td class="mono">{field.identifier}</td>
                  <td title={field.description ?? undefined}>{field.name}</td>
                  <td>
                    {TYPE_WORDS[field.type]}
                    {field.meaning !== 'GAUGE' && <small> {field.meaning.toLowerCase()}</small>}
                  </td>
                  <td>{field.unit}</td>
                  <td>
                    <select
                      aria-label={`Role of ${field.identifier}`}
                      onKeyDown={pickWithKeys}
                      value={field.role ?? ''}
                      disabled={!isAllowed || giving.busy}
                      onChange={(event) => {
                        const role = event.currentTarget.value;
                        void giving.run(field, role === '' ? null : (role as FieldRole));
                      }}
                    >
                      {ROLES.map(({ role, text }) => (
                        <option key={role ?? ''} value={role ?? ''}>
                          {text}
                        </option>
                      ))}
                    </select>
                  </td>
                  <td>
                    {isAllowed && (
                      <RowChanges
                        name={field.identifier}
                        onChange={() => setEdited(field)}
                        onRemove={() => setRemoved(field)}
                      />
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {edited !== null && (
        <FieldSheet
          productId={productId}
          field={edited === 'new' ? null : edited}
          onClose={() => setEdited(null)}
          onSaved={onChanged}
        />
      )}
      {removed !== null && (
        <RemoveFieldDialog
          name={removed.identifier}
          deed="Remove field and values"
          action={removing}
          onRemove={() => void removing.run(removed)}
          onClose={() => setRemoved(null)}
        >
          <FieldUse productId={productId} field={removed} />
        </RemoveFieldDialog>
      )}
    </section>
  );
}
