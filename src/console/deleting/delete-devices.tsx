import { request } from '../api/request.ts';
import { useAction } from '../api/use-action.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Note } from '../parts/note.tsx';
import { toast } from '../parts/toasts.tsx';
import { RemoveDevices } from './deleting.graphql.ts';
import { useValueCount } from './use-value-count.ts';
import { counted, countedParts, t } from '../texts/texts.ts';
import { countText } from '../texts/count-text.ts';

interface DeleteDevicesProps {
  devices: readonly { id: string; name: string }[];
  onClose: () => void;
  onDone: () => void;
}

/** Shows how many values would be deleted, and deletes them on confirmation. */
export function DeleteDevices({ devices, onClose, onDone }: DeleteDevicesProps) {
  const { values, counted: looked, error } = useValueCount(devices);
  const deleting = useAction(async () => {
    await request(RemoveDevices, { ids: devices.map(({ id }) => id) });
    toast(t('Deleted {what}.', { what }));
    onClose();
    onDone();
  });
  const what = devices.length === 1 ? devices[0]!.name : counted(devices.length, '{count} device', '{count} devices');
  const isCounted = looked === devices.length;
  return (
    <Dialog title={`Delete ${what}?`} onClose={onClose}>
      <p aria-live="polite">
        {isCounted ? (
          <Loss values={values} isOne={devices.length === 1} />
        ) : (
          t('Counting the values that would go: {counted} of {length}…', {
            counted: looked,
            length: devices.length,
          })
        )}
      </p>
      {(error ?? deleting.error) !== null && <Note kind="error">{error ?? deleting.error}</Note>}
      <div class="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class="danger primary"
          disabled={!isCounted || deleting.busy}
          onClick={() => void deleting.run()}
        >
          Delete
        </button>
      </div>
    </Dialog>
  );
}

/** The number of values that go with the devices. */
function Loss({ values, isOne }: { values: number; isOne: boolean }) {
  const slots = { count: <strong>{countText(values)}</strong> };
  return isOne
    ? countedParts(values, '{count} value goes with it, for good.', '{count} values go with it, for good.', slots)
    : countedParts(values, '{count} value goes with them, for good.', '{count} values go with them, for good.', slots);
}
