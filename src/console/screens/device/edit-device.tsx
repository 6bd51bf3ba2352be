import { useState } from 'preact/hooks';
import { ApiError } from '../../api/api-error.ts';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { useQuery } from '../../api/use-query.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Note } from '../../parts/note.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { EditChoices, UpdateDevice } from './device.graphql.ts';
import type { ShownDevice } from './shown-device.ts';
import { countedParts, t } from '../../texts/texts.ts';
import { countText } from '../../texts/count-text.ts';

interface EditDeviceProps {
  device: ShownDevice;
  onClose: () => void;
  onSaved: () => void;
}

/** Name, serial number, tags, place, plan, limit of silence and metadata of a device. */
export function EditDevice({ device, onClose, onSaved }: EditDeviceProps) {
  const { data: choices } = useQuery(EditChoices, {});
  /** Number of values that the chosen plan would delete; null: none known. */
  const [loss, setLoss] = useState<number | null>(null);
  const saving = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    const [location, metadata, silence] = ['location', 'metadata', 'silence'].map((name) => text(name).trim());
    const serialNumber = text('serialNumber').trim();
    const change = {
      id: device.id,
      confirm: loss !== null,
      input: {
        name: text('name').trim(),
        ...(serialNumber === device.serialNumber ? {} : { serialNumber }),
        ...(text('plan') === device.plan.slug || text('plan') === '' ? {} : { plan: text('plan') }),
        tags: text('tags')
          .split(',')
          .map((tag) => tag.trim())
          .filter((tag) => tag !== ''),
        location: location === '' ? null : location,
        metadata: metadata === '' ? null : readJson(metadata ?? ''),
        offlineAfterSeconds: silence === '' ? null : Number(silence),
      },
    };
    try {
      await request(UpdateDevice, change);
    } catch (error) {
      const taken = error instanceof ApiError && error.code === 'CONFLICT' ? error.details['measurements'] : undefined;
      if (typeof taken !== 'number') throw error;
      setLoss(taken);
      return;
    }
    onSaved();
    onClose();
  });
  return (
    <Dialog title={`Change ${device.name}`} onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(saving.run)}>
        <label>
          Name
          <input name="name" required maxLength={200} defaultValue={device.name} autofocus />
        </label>
        <label>
          Serial number
          <input name="serialNumber" required maxLength={100} defaultValue={device.serialNumber} />
        </label>
        <label>
          Tags
          <input name="tags" defaultValue={device.tags.join(', ')} placeholder="roof, building 2" />
        </label>
        <label>
          Location
          <input name="location" maxLength={500} defaultValue={device.location ?? ''} />
        </label>
        <label>
          Plan
          <select name="plan" onChange={() => setLoss(null)}>
            {(choices?.plans ?? [device.plan]).map(({ slug, name }) => (
              <option key={slug} value={slug} selected={slug === device.plan.slug}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Silent after (seconds)
          <input
            name="silence"
            type="number"
            min={1}
            defaultValue={device.offlineAfterSeconds ?? ''}
            placeholder={`the product’s: ${device.product.offlineAfterSeconds ?? 2400}`}
          />
        </label>
        <label>
          Metadata (JSON)
          <textarea
            name="metadata"
            class="mono"
            rows={4}
            spellcheck={false}
            defaultValue={device.metadata == null ? '' : JSON.stringify(device.metadata, null, 2)}
          />
        </label>
        {loss !== null && (
          <Note kind="error">
            {countedParts(
              loss,
              'This plan keeps less: {count} older value goes for good, seven days after the change.',
              'This plan keeps less: {count} older values go for good, seven days after the change.',
              { count: <strong>{countText(loss)}</strong> },
            )}
          </Note>
        )}
        <FormEnd action={saving} onCancel={onClose} danger={loss !== null}>
          {loss === null ? 'Save' : 'Save, and let them go'}
        </FormEnd>
      </form>
    </Dialog>
  );
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(t('Metadata is no JSON: {message}', { message: (error as Error).message }), { cause: error });
  }
}
