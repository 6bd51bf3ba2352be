import { useState } from 'preact/hooks';
import { useStore } from '../../api/store.ts';
import { useQuery } from '../../api/use-query.ts';
import { Icon } from '../../parts/icon.tsx';
import { pickWithKeys } from '../../parts/pick-with-keys.ts';
import { useLater } from '../../parts/use-later.ts';
import { workspaceId } from '../../session/session.ts';
import { FindDevices, TokenLimits } from './access.graphql.ts';

interface Named {
  id: string;
  name: string;
}

interface NamedDevice extends Named {
  /** Left out: not known. */
  product?: { id: string };
}

/** Limits of a token; both empty: the whole workspace. */
export interface TokenLimit {
  products: readonly Named[];
  devices: readonly NamedDevice[];
}

interface LimitPickerProps {
  legend: string;
  limit: TokenLimit;
  onChange: (limit: TokenLimit) => void;
}

const LATER_MS = 200;

/** Limits a token to some products, with their devices, or to single devices. */
export function LimitPicker({ legend, limit, onChange }: LimitPickerProps) {
  const workspace = useStore(workspaceId);
  const [text, setText] = useState('');
  const search = useLater(text.trim(), LATER_MS);
  const { data } = useQuery(TokenLimits, { workspaceId: workspace });
  const found = useQuery(FindDevices, search === '' ? null : { workspaceId: workspace, search });
  const products = data?.products.edges.map(({ node }) => node) ?? [];
  const isChosen = ({ id }: Named): boolean => [...limit.products, ...limit.devices].some((one) => one.id === id);
  const without = <Item extends Named>(items: readonly Item[], { id }: Named): Item[] =>
    items.filter((one) => one.id !== id);
  const devices = search === '' ? [] : (found.data?.devices.edges.map(({ node }) => node) ?? []);
  return (
    <fieldset class="scopes">
      <legend>{legend}</legend>
      <div class="row">
        {[...limit.products, ...limit.devices].map((one) => (
          <button
            key={one.id}
            type="button"
            class="tag-filter"
            aria-label={`Not ${one.name}`}
            onClick={() => onChange({ products: without(limit.products, one), devices: without(limit.devices, one) })}
          >
            {one.name} <Icon name="close" />
          </button>
        ))}
      </div>
      <select
        aria-label="Product"
        onKeyDown={pickWithKeys}
        value=""
        onChange={(event) => {
          const product = products.find(({ id }) => id === event.currentTarget.value);
          if (product !== undefined) onChange({ ...limit, products: [...limit.products, product] });
        }}
      >
        <option value="">A product and its devices…</option>
        {products
          .filter((product) => !isChosen(product))
          .map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
      </select>
      <input
        type="search"
        aria-label="Device"
        placeholder="A device, by name or serial number…"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {devices
        .filter((device) => !isChosen(device))
        .map((device) => (
          <button
            key={device.id}
            type="button"
            class="quiet found"
            onClick={() => {
              onChange({ ...limit, devices: [...limit.devices, device] });
              setText('');
            }}
          >
            <Icon name="plus" /> {device.name} <small class="mono">{device.serialNumber}</small>
          </button>
        ))}
    </fieldset>
  );
}
