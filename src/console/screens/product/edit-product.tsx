import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { SetWriteRate, UpdateProduct } from './product.graphql.ts';
import type { ShownProduct } from './shown-product.ts';

interface EditProductProps {
  product: ShownProduct;
  onClose: () => void;
  onSaved: () => void;
}

/** Name, key, limit of silence, zone and write limit of a product. */
export function EditProduct({ product, onClose, onSaved }: EditProductProps) {
  const { id, authorKey, name, offlineAfterSeconds, ignoreZeroPlaces, timeZone, writeRate } = product;
  const hasOwn = writeRate.source === 'PRODUCT';
  const before = !hasOwn ? 'wider' : writeRate.perSecond === null ? 'none' : 'own';
  const [limit, setLimit] = useState(before);
  const saving = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    const silence = text('silence').trim();
    const zone = text('zone').trim();
    const input = {
      key: text('key').trim() || null,
      name: text('name').trim(),
      offlineAfterSeconds: silence === '' ? null : Number(silence),
      ignoreZeroPlaces: text('zeroPlaces') !== '',
      timeZone: zone === '' ? null : zone,
    };
    await request(UpdateProduct, { id, input });
    if (limit !== before || limit === 'own') await request(SetWriteRate, { productId: id, ...rateOf(limit, text) });
    onSaved();
    onClose();
  });
  return (
    <Dialog title={`Change ${name}`} onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(saving.run)}>
        <label>
          Name
          <input name="name" required maxLength={200} defaultValue={name} autofocus />
        </label>
        <label>
          Key
          <input
            name="key"
            class="mono"
            maxLength={64}
            spellcheck={false}
            defaultValue={authorKey ?? ''}
            placeholder="none"
          />
          <small>By which scripts and configuration files know it: a-z 0-9 -.</small>
        </label>
        <label>
          Silent after (seconds)
          <input name="silence" type="number" min={1} defaultValue={offlineAfterSeconds ?? ''} placeholder="2400" />
          <small>A device that was not heard of for longer is not online.</small>
        </label>
        <label class="check">
          <input type="checkbox" name="zeroPlaces" defaultChecked={ignoreZeroPlaces} />
          The place (0,0) means that a tracker has no fix: do not store it
        </label>
        <label>
          Time zone
          <input name="zone" maxLength={64} defaultValue={timeZone ?? ''} placeholder="UTC" list="zones" />
          <datalist id="zones">
            {Intl.supportedValuesOf('timeZone').map((zone) => (
              <option value={zone} />
            ))}
          </datalist>
          <small>Of times in decoders and imports that name none, such as Europe/Berlin.</small>
        </label>
        <label>
          Write limit
          <select value={limit} onChange={(event) => setLimit(event.currentTarget.value as typeof before)}>
            <option value="wider">as the workspace has it</option>
            <option value="own">of its own</option>
            <option value="none">no limit</option>
          </select>
          <small>Of the record endpoint, for each device and field.</small>
        </label>
        {limit === 'own' && (
          <label>
            Writes a second
            <input name="perSecond" type="number" step="any" required defaultValue={String(writeRate.perSecond ?? 1)} />
          </label>
        )}
        <FormEnd action={saving} onCancel={onClose}>
          Save
        </FormEnd>
      </form>
    </Dialog>
  );
}

function rateOf(limit: string, text: (name: string) => string): { perSecond: number | null } | { reset: true } {
  if (limit === 'wider') return { reset: true };
  return { perSecond: limit === 'none' ? null : Number(text('perSecond')) };
}
