import { useEffect, useState } from 'preact/hooks';
import type { UpdateDevicesInput } from '../../api/schema-types.ts';
import { useAction } from '../../api/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Note } from '../../parts/note.tsx';
import { toast } from '../../parts/toasts.tsx';
import { type Changed, type ChangedDevices, changeMany } from './change-many.ts';
import { counted, countedParts } from '../../texts/texts.ts';
import { countText } from '../../texts/count-text.ts';

/** A change of many devices, in words before and after it. */
export interface WishedChange {
  /** Such as `Add the tag “roof”`. */
  title: string;
  /** Such as `Tag “roof” added to 2 devices.` */
  done: (count: number) => string;
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
  const [outcome, setOutcome] = useState<Changed | null>(null);
  const counting = useAction(async () => setOutcome(await changeMany(devices, input, true)));
  const changing = useAction(async () => {
    const { changed } = await changeMany(devices, input, false);
    toast(done(changed));
    onDone();
  });
  useEffect(() => void counting.run(), []);
  const error = counting.error ?? changing.error;
  return (
    <Dialog title={`${title}?`} onClose={onClose}>
      <p aria-live="polite">{outcome === null ? 'Counting the devices…' : <Outcome {...outcome} />}</p>
      {error !== null && <Note kind="error">{error}</Note>}
      <div class="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class="primary"
          disabled={outcome === null || outcome.changed === 0 || changing.busy}
          onClick={() => void changing.run()}
        >
          {outcome === null
            ? 'Change them'
            : counted(outcome.changed, 'Change {count} device', 'Change {count} devices')}
        </button>
      </div>
    </Dialog>
  );
}

function Outcome({ matched, changed }: Changed) {
  const same = matched - changed;
  const slots = { count: <strong>{countText(changed)}</strong> };
  return (
    <>
      {countedParts(changed, 'It changes {count} device.', 'It changes {count} devices.', slots)}
      {same > 0 && <> {counted(same, '{count} device has it already.', '{count} devices have it already.')}</>}
    </>
  );
}
