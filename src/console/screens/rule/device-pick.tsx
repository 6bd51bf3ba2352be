import { useEffect, useState } from 'preact/hooks';
import { useQuery } from '../../api/use-query.ts';
import { useLater } from '../../parts/use-later.ts';
import { DevicesToTry } from '../../rules/rules.graphql.ts';

const LATER_MS = 200;
/** Number of devices from which one is searched for. */
const MANY = 50;

interface DevicePickProps {
  productId: string;
  deviceId: string | null;
  onDevice: (id: string) => void;
}

/** Chooses the device that a rule is tried on, first the one that was heard last. */
export function DevicePick({ productId, deviceId, onDevice }: DevicePickProps) {
  const [text, setText] = useState('');
  const search = useLater(text.trim(), LATER_MS);
  const { data } = useQuery(DevicesToTry, { id: productId, search: search === '' ? null : search });
  const devices = data?.devices.edges.map(({ node }) => node) ?? [];
  const isMany = search !== '' || devices.length >= MANY;
  const latest = devices.reduce<(typeof devices)[number] | null>(
    (last, device) => (last === null || (device.lastHeardAt ?? '') > (last.lastHeardAt ?? '') ? device : last),
    null,
  );
  const isListed = devices.some(({ id }) => id === deviceId);
  useEffect(() => {
    // A search that leaves the chosen one out chooses its first.
    if (latest !== null && (deviceId === null || (search !== '' && !isListed))) onDevice(latest.id);
  }, [latest?.id, deviceId, search]);
  return (
    <>
      {isMany && (
        <input
          type="search"
          class="device-search"
          aria-label="Find a device"
          placeholder="Find a device"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      )}
      <select
        class="device-pick"
        aria-label="Device to try it on"
        value={deviceId ?? ''}
        disabled={devices.length === 0}
        onChange={(event) => onDevice(event.currentTarget.value)}
      >
        {deviceId !== null && !isListed && <option value={deviceId}>The device of the episode</option>}
        {devices.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </>
  );
}
