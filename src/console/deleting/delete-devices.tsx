import { request } from '../api/request.ts';
import { useAction } from '../api/use-action.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Note } from '../parts/note.tsx';
import { toast } from '../parts/toasts.tsx';
import { RemoveDevices } from './deleting.graphql.ts';
import { useValueCount } from './use-value-count.ts';
import { t } from '../texts/texts.ts';
import { countText } from '../parts/value-text.ts';

interface DeleteDevicesProps {
  devices: readonly { id: string; name: string }[];
  onClose: () => void;
  onDone: () => void;
}

/** Shows how many values would be deleted, and deletes them on confirmation. */
export function DeleteDevices({ devices, onClose, onDone }: DeleteDevicesProps) {
  const { values, counted, error } = useValueCount(devices);
  const deleting = useAction(async () => {
    await request(RemoveDevices, { ids: devices.map(({ id }) => id) });
    toast(t('Deleted {what}.', { what }));
    onClose();
    onDone();
  });
  const what = devices.length === 1 ? devices[0]!.name : t('{length} devices', { length: countText(devices.length) });
  const isCounted = counted === devices.length;
  return (
    <Dialog title={`Delete ${what}?`} onClose={onClose}>
      <p aria-live="polite">
        {isCounted ? (
          <>
            <strong>{countText(values)}</strong> {values === 1 ? 'value goes' : 'values go'} with{' '}
            {devices.length === 1 ? 'it' : 'them'}, for good.
          </>
        ) : (
          t('Counting the values that would go: {counted} of {length}…', { counted, length: devices.length })
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
