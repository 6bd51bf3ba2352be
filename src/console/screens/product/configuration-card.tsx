import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { Icon } from '../../parts/icon.tsx';
import { toast } from '../../parts/toasts.tsx';
import { may } from '../../session/session.ts';
import { ConfigurationSheet, CONFIGURATION_TYPES, defaultText } from './configuration-sheet.tsx';
import { type ProductConfiguration, RemoveConfiguration } from './product.graphql.ts';
import { RemoveFieldDialog } from './remove-field-dialog.tsx';
import { RowChanges } from './row-changes.tsx';
import { t } from '../../texts/texts.ts';

interface ConfigurationCardProps {
  productId: string;
  fields: readonly ProductConfiguration[];
  onChanged: () => void;
}

/** The configuration fields of a product's devices, with their defaults. */
export function ConfigurationCard({ productId, fields, onChanged }: ConfigurationCardProps) {
  const [edited, setEdited] = useState<ProductConfiguration | 'new' | null>(null);
  const [removed, setRemoved] = useState<ProductConfiguration | null>(null);
  const isAllowed = may('CONFIGURE');
  const removing = useAction(async ({ id, identifier }: ProductConfiguration) => {
    await request(RemoveConfiguration, { id });
    toast(t('The configuration field {identifier} is gone.', { identifier }));
    setRemoved(null);
    onChanged();
  });
  return (
    <section class="card" aria-labelledby="configuration-title">
      <div class="card-head">
        <h2 id="configuration-title" class="grow">
          Configuration
        </h2>
        {isAllowed && (
          <button type="button" onClick={() => setEdited('new')}>
            <Icon name="plus" /> Add configuration field
          </button>
        )}
      </div>
      {fields.length === 0 ? (
        <p class="hint nothing">
          Values that the decoder is told about each device, such as an offset or a height: it reads them as{' '}
          <code>configurationValues[deviceId].NAME</code>.
        </p>
      ) : (
        <div class="scroll-x" role="region" aria-label="Configuration fields" tabIndex={0}>
          <table class="fields">
            <thead>
              <tr>
                <th>Identifier</th>
                <th>Name</th>
                <th>Type</th>
                <th>Default</th>
                <th>Description</th>
                <th>
                  <span class="unseen">Changes</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {fields.map((field) => (
                <tr key={field.id}>
                  <td class="mono">{field.identifier}</td>
                  <td>{field.name}</td>
                  <td>{CONFIGURATION_TYPES[field.type]}</td>
                  <td class="mono">
                    {field.default == null ? <span class="muted">none</span> : defaultText(field.default)}
                  </td>
                  <td class="told">{field.description}</td>
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
        <ConfigurationSheet
          productId={productId}
          field={edited === 'new' ? null : edited}
          onClose={() => setEdited(null)}
          onSaved={onChanged}
        />
      )}
      {removed !== null && (
        <RemoveFieldDialog
          name={removed.identifier}
          deed="Remove configuration field"
          action={removing}
          onRemove={() => void removing.run(removed)}
          onClose={() => setRemoved(null)}
        >
          What devices have set for it goes too, and the decoder is told nothing of it from now on. This cannot be
          undone.
        </RemoveFieldDialog>
      )}
    </section>
  );
}
