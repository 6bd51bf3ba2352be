import { useEffect, useState } from 'preact/hooks';
import type { UpdateDevicesInput } from '../../api/schema-types.ts';
import { useAction } from '../../api/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Note } from '../../parts/note.tsx';
import { toast } from '../../parts/toasts.tsx';
import { type Changed, type ChangedDevices, changeMany } from './change-many.ts';
import { t } from '../../texts/texts.ts';
import { countText } from '../../parts/value-text.ts';

/** A change of many devices, in words before and after it. */
export interface WishedChange {
  /** Such as `Add the tag “roof”`. */
  title: string;
  /** Such as `Tag “roof” added to`, followed by the number of devices. */
  done: string;
  input: UpdateDevicesInput;
}

interface ConfirmChangeProps {
  change: WishedChange;
  devices: ChangedDevices;
  onClose: () => void;
  onDone: () => void;
}

/** Says what a change would do, as the server counts it, and does it when asked to. */
export function ConfirmChange({ change: { title, done, input }, devices, onClose, onDone }: ConfirmChangeProps) {
  const [counted, setCounted] = useState<Changed | null>(null);
  const counting = useAction(async () => setCounted(await changeMany(devices, input, true)));
  const changing = useAction(async () => {
    const { changed } = await changeMany(devices, input, false);
    toast(`${done} ${devicesText(changed)}.`);
    onDone();
  });
  useEffect(() => void counting.run(), []);
  const error = counting.error ?? changing.error;
  return (
    <Dialog title={`${title}?`} onClose={onClose}>
      <p aria-live="polite">{counted === null ? 'Counting the devices…' : <Outcome {...counted} />}</p>
      {error !== null && <Note kind="error">{error}</Note>}
      <div class="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class="primary"
          disabled={counted === null || counted.changed === 0 || changing.busy}
          onClick={() => void changing.run()}
        >
          Change {counted === null ? 'them' : devicesText(counted.changed)}
        </button>
      </div>
    </Dialog>
  );
}

function Outcome({ matched, changed }: Changed) {
  const same = matched - changed;
  return (
    <>
      It changes <strong>{devicesText(changed)}</strong>
      {same === 0 ? '.' : `; ${devicesText(same)} ${same === 1 ? 'has' : 'have'} it already.`}
    </>
  );
}

/** A number of devices in words. */
export function devicesText(count: number): string {
  return count === 1 ? '1 device' : t('{count} devices', { count: countText(count) });
}
