import { useEffect, useRef, useState } from 'preact/hooks';
import { forEachOf } from '../../api/for-each-of.ts';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Note } from '../../parts/note.tsx';
import { toast } from '../../parts/toasts.tsx';
import { MoveDevice, MoveLoss } from './devices.graphql.ts';
import { counted, countedParts, t } from '../../texts/texts.ts';
import { countText } from '../../texts/count-text.ts';

interface MoveDevicesProps {
  devices: readonly { id: string; name: string }[];
  product: { id: string; name: string };
  onClose: () => void;
  onDone: () => void;
}

/** Moves devices to another product after saying how many of their values have no field there. */
export function MoveDevices({ devices, product, onClose, onDone }: MoveDevicesProps) {
  const [{ looked, values, fields }, setCount] = useState({ looked: 0, values: 0, fields: new Set<string>() });
  const [moved, setMoved] = useState(0);
  const stop = useRef(new AbortController());
  const counting = useAction((signal: AbortSignal) =>
    forEachOf(
      devices,
      async ({ id }) => {
        const { productChange } = await request(MoveLoss, { deviceId: id, productId: product.id }, signal);
        setCount((sum) => ({
          looked: sum.looked + 1,
          values: sum.values + productChange.measurements,
          fields: new Set([...sum.fields, ...productChange.dropped.map(({ field }) => field)]),
        }));
      },
      signal,
    ),
  );
  const moving = useAction(async () => {
    const { signal } = (stop.current = new AbortController());
    let done = 0;
    await forEachOf(
      devices,
      async ({ id }) => {
        await request(MoveDevice, { id, productId: product.id });
        setMoved((done += 1));
      },
      signal,
    );
    toast(
      signal.aborted
        ? counted(done, 'Stopped: {count} device moved.', 'Stopped: {count} devices moved.')
        : counted(done, 'Moved {count} device to {name}.', 'Moved {count} devices to {name}.', { name: product.name }),
    );
    onDone();
  });
  useEffect(() => {
    const { signal } = stop.current;
    void counting.run(signal);
    return () => stop.current.abort();
  }, []);
  const isCounted = looked === devices.length;
  const error = counting.error ?? moving.error;
  return (
    <Dialog
      title={counted(devices.length, 'Move {count} device to {name}?', 'Move {count} devices to {name}?', {
        name: product.name,
      })}
      onClose={onClose}
    >
      <p aria-live="polite">
        {moving.busy ? (
          t('Moved {moved} of {length}…', { moved, length: devices.length })
        ) : !isCounted ? (
          t('Looking at what would go: {counted} of {length}…', { counted: looked, length: devices.length })
        ) : values === 0 ? (
          t('Every value goes with them: the product has a field for each.')
        ) : (
          <>
            {countedParts(values, '{count} value goes at once, for good.', '{count} values go at once, for good.', {
              count: <strong>{countText(values)}</strong>,
            })}{' '}
            {product.name} has no field for {[...fields].join(', ')}.
          </>
        )}
      </p>
      {error !== null && <Note kind="error">{error}</Note>}
      <div class="actions">
        <button type="button" onClick={moving.busy ? () => stop.current.abort() : onClose}>
          {moving.busy ? 'Stop' : 'Cancel'}
        </button>
        <button
          type="button"
          class={values > 0 ? 'danger primary' : 'primary'}
          disabled={!isCounted || moving.busy}
          onClick={() => void moving.run()}
        >
          Move
        </button>
      </div>
    </Dialog>
  );
}
