import { useState } from 'preact/hooks';
import { useQuery } from '../../api/use-query.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { Note } from '../../parts/note.tsx';
import { useLater } from '../../parts/use-later.ts';
import { type Comparison, EARLIER, MOST_DEVICES } from './comparison.ts';
import { DevicesToCompare } from './device.graphql.ts';
import { counted, t } from '../../texts/texts.ts';

const SETTLE_MS = 200;

interface CompareMenuProps {
  comparison: Comparison;
  device: { id: string; product: { id: string } };
}

/** Chooses what the charts of the page are compared with, and says what that is. */
export function CompareMenu({ comparison, device }: CompareMenuProps) {
  const [isAsking, setAsking] = useState(false);
  const { earlier, deviceIds, setEarlier, setDevices } = comparison;
  return (
    <>
      <Menu label="Compare" button="Compare" class="boxed">
        {(Object.keys(EARLIER) as (keyof typeof EARLIER)[]).map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={earlier === one}
            onClick={() => setEarlier(earlier === one ? null : one)}
          >
            {EARLIER[one]}
          </button>
        ))}
        <button type="button" onClick={() => setAsking(true)}>
          Other devices…
        </button>
      </Menu>
      {earlier !== null && (
        <Chosen
          text={t('with {EARLIER}', { EARLIER: EARLIER[earlier] })}
          name={EARLIER[earlier]}
          onRemove={() => setEarlier(null)}
        />
      )}
      {deviceIds.length > 0 && (
        <Chosen
          text={counted(deviceIds.length, 'with {count} device', 'with {count} devices')}
          name={t('other devices')}
          onRemove={() => setDevices([])}
        />
      )}
      {isAsking && (
        <ChooseDevices
          device={device}
          chosen={deviceIds}
          onClose={() => setAsking(false)}
          onChosen={(ids) => {
            setDevices(ids);
            setAsking(false);
          }}
        />
      )}
    </>
  );
}

function Chosen({ text, name, onRemove }: { text: string; name: string; onRemove: () => void }) {
  return (
    <button type="button" class="chip" aria-label={`Do not compare with ${name}`} onClick={onRemove}>
      {text} <Icon name="close" />
    </button>
  );
}

interface ChooseDevicesProps {
  device: CompareMenuProps['device'];
  chosen: readonly string[];
  onClose: () => void;
  onChosen: (ids: readonly string[]) => void;
}

function ChooseDevices({ device, chosen, onClose, onChosen }: ChooseDevicesProps) {
  const [typed, setTyped] = useState('');
  const [ids, setIds] = useState(chosen);
  const search = useLater(typed.trim(), SETTLE_MS);
  const { data, error } = useQuery(DevicesToCompare, { productId: device.product.id, search });
  const found = (data?.devices.edges ?? []).flatMap(({ node }) => (node.id === device.id ? [] : [node]));
  return (
    <Dialog title="Compare with other devices" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onChosen(ids);
        }}
      >
        <label>
          Find
          <input type="search" value={typed} onInput={({ currentTarget }) => setTyped(currentTarget.value)} />
        </label>
        {error !== null && <Note kind="error">{error.message}</Note>}
        <ul class="choices">
          {found.map(({ id, name, serialNumber }) => (
            <li key={id}>
              <label class="row">
                <input
                  type="checkbox"
                  checked={ids.includes(id)}
                  disabled={!ids.includes(id) && ids.length >= MOST_DEVICES}
                  onChange={({ currentTarget }) =>
                    setIds(currentTarget.checked ? [...ids, id] : ids.filter((one) => one !== id))
                  }
                />
                {name} <small class="mono">{serialNumber}</small>
              </label>
            </li>
          ))}
        </ul>
        {data !== null && found.length === 0 && <p class="hint">No other device of this product fits.</p>}
        <p class="hint">
          {counted(
            MOST_DEVICES,
            'Up to {count} device of the same product.',
            'Up to {count} devices of the same product.',
          )}
        </p>
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Compare
          </button>
        </div>
      </form>
    </Dialog>
  );
}
