import { useState } from 'preact/hooks';
import { useStore } from '../../api/store.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLater } from '../../parts/use-later.ts';
import { workspaceId } from '../../session/session.ts';
import { ImportDevices } from './import.graphql.ts';

const LATER_MS = 200;

interface DeviceCardProps {
  device: { id: string; name: string } | null;
  products: readonly { id: string; name: string }[];
  productId: string | null;
  isBusy: boolean;
  /** null: the lines name their devices. */
  onDevice: (id: string | null) => void;
  onProduct: (id: string) => void;
}

/** Chooses whose values the file has: those of one device, or of the devices that its lines name. */
export function DeviceCard({ device, products, productId, isBusy, onDevice, onProduct }: DeviceCardProps) {
  const [isChoosing, setChoosing] = useState(false);
  const isOne = device !== null || isChoosing;
  return (
    <section class="card padded stack" aria-labelledby="import-device">
      <h2 id="import-device">2. Whose values they are</h2>
      <div class="row" role="radiogroup" aria-labelledby="import-device">
        <label class="choice">
          <input
            type="radio"
            name="whose"
            checked={!isOne}
            disabled={isBusy}
            onChange={() => {
              setChoosing(false);
              onDevice(null);
            }}
          />
          A column names the devices
        </label>
        <label class="choice">
          <input type="radio" name="whose" checked={isOne} disabled={isBusy} onChange={() => setChoosing(true)} />
          All are of one device
        </label>
      </div>
      {isOne ? (
        <DevicePick device={device} isBusy={isBusy} onDevice={onDevice} />
      ) : (
        products.length > 1 && (
          <label class="narrow">
            Product of these devices
            <select
              value={productId ?? ''}
              disabled={isBusy}
              onChange={(event) => onProduct(event.currentTarget.value)}
            >
              {products.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
            <small>Its fields are offered for the columns; devices of other products are taken too.</small>
          </label>
        )
      )}
    </section>
  );
}

function DevicePick({ device, isBusy, onDevice }: Pick<DeviceCardProps, 'device' | 'isBusy' | 'onDevice'>) {
  const workspace = useStore(workspaceId);
  const [text, setText] = useState('');
  const search = useLater(text.trim(), LATER_MS);
  const { data } = useQuery(ImportDevices, { workspaceId: workspace, search: search === '' ? null : search });
  const found = data?.devices.edges.map(({ node }) => node) ?? [];
  const isListed = found.some(({ id }) => id === device?.id);
  return (
    <div class="row">
      <label class="narrow">
        Find a device
        <input
          type="search"
          placeholder="Name or serial number"
          value={text}
          disabled={isBusy}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <label class="narrow">
        Device
        <select value={device?.id ?? ''} disabled={isBusy} onChange={(event) => onDevice(event.currentTarget.value)}>
          {device === null && <option value="">Choose one</option>}
          {device !== null && !isListed && <option value={device.id}>{device.name}</option>}
          {found.map(({ id, name, serialNumber }) => (
            <option key={id} value={id}>
              {name === serialNumber ? name : `${name} (${serialNumber})`}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
