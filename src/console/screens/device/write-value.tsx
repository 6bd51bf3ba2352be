import { useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormEnd } from '../../parts/form-end.tsx';
import { onSubmit, textsOf } from '../../parts/form-texts.ts';
import { readLocalTime } from '../../time/local-time.ts';
import { toast } from '../../parts/toasts.tsx';
import { type DeviceField, WriteValue as Write } from './device.graphql.ts';
import { t } from '../../texts/texts.ts';

interface WriteValueProps {
  device: { id: string; name: string };
  fields: readonly DeviceField[];
  onClose: () => void;
}

/** Records one value by hand, now or at another time. */
export function WriteValue({ device, fields, onClose }: WriteValueProps) {
  const [identifier, setIdentifier] = useState(fields[0]?.identifier ?? '');
  const field = fields.find((one) => one.identifier === identifier);
  const writing = useAction(async (form: HTMLFormElement) => {
    const text = textsOf(form);
    const at = readLocalTime(text('at'));
    const entry = {
      field: identifier,
      value: text('value'),
      ...(at === null ? {} : { timestamp: at }),
    };
    const { recordMeasurements } = await request(Write, { id: device.id, entries: [entry] });
    const [refused] = recordMeasurements.rejected;
    if (refused !== undefined) throw new Error(refused.message ?? t('The value was refused.'));
    toast(t('{text} written.', { text: field?.name ?? identifier }));
    onClose();
  });
  return (
    <Dialog title={`Write a value of ${device.name}`} onClose={onClose}>
      <form class="stack" onSubmit={onSubmit(writing.run)}>
        <label>
          Field
          <select value={identifier} onChange={(event) => setIdentifier(event.currentTarget.value)}>
            {fields.map(({ identifier: id, name }) => (
              <option key={id} value={id}>
                {name ?? id}
              </option>
            ))}
          </select>
        </label>
        <label>
          Value {field?.unit != null && `(${field.unit})`}
          {field?.type === 'BOOLEAN' ? (
            <select name="value">
              <option>true</option>
              <option>false</option>
            </select>
          ) : (
            <input
              name="value"
              required
              autofocus
              placeholder={field?.type === 'GEOLOCATION' ? '(52.52,13.405)' : ''}
            />
          )}
        </label>
        <label>
          Time
          <input name="at" type="datetime-local" step="1" />
          <small>Now, if left empty.</small>
        </label>
        <FormEnd action={writing} onCancel={onClose}>
          Write
        </FormEnd>
      </form>
    </Dialog>
  );
}
