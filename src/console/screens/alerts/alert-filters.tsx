import { useState } from 'preact/hooks';
import { AlertDevices, NameOfDevice } from '../../alerts/alerts.graphql.ts';
import type { AlertState, Severity } from '../../api/schema-types.ts';
import { useQuery } from '../../api/use-query.ts';
import { setParameters, usePlace } from '../../navigation/place.ts';
import { Icon } from '../../parts/icon.tsx';
import { PeriodInputs } from '../../parts/period-inputs.tsx';
import { useLater } from '../../parts/use-later.ts';
import { SEVERITIES } from '../../rules/severity.tsx';
import { type AlertFilter, STATES, stateParameter } from './alert-filter.ts';

const LATER_MS = 200;

interface AlertFiltersProps {
  workspaceId: string | null;
  products: readonly { id: string; name: string }[];
  filter: AlertFilter;
}

/** The filter of the list of alerts, kept in the address. */
export function AlertFilters({ workspaceId, products, filter }: AlertFiltersProps) {
  const { query } = usePlace();
  const isNarrowed = ['state', 'severity', 'product', 'device', 'from', 'to'].some((name) => query.has(name));
  return (
    <div class="alert-filters" role="group" aria-label="Which alerts are shown">
      <Toggles
        label="State"
        names={STATES}
        chosen={filter.states}
        onChange={(states: AlertState[]) => setParameters({ state: stateParameter(states) })}
      />
      <Toggles
        label="Level"
        names={SEVERITIES}
        chosen={filter.severities}
        onChange={(severities: Severity[]) => setParameters({ severity: severities.join(',') })}
      />
      <label>
        Product
        <select
          value={filter.productId ?? ''}
          onChange={(event) => setParameters({ product: event.currentTarget.value })}
        >
          <option value="">All products</option>
          {filter.productId !== null && products.every(({ id }) => id !== filter.productId) && (
            <option value={filter.productId}>One product</option>
          )}
          {products.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <DeviceFilter workspaceId={workspaceId} deviceId={filter.deviceId} />
      <PeriodInputs from={filter.from} to={filter.to} />
      {isNarrowed && (
        <button
          type="button"
          class="quiet"
          onClick={() =>
            setParameters({ state: null, severity: null, product: null, device: null, from: null, to: null })
          }
        >
          What is on now
        </button>
      )}
    </div>
  );
}

interface TogglesProps<Name extends string> {
  label: string;
  names: Record<Name, string>;
  chosen: readonly Name[];
  onChange: (chosen: Name[]) => void;
}

function Toggles<Name extends string>({ label, names, chosen, onChange }: TogglesProps<Name>) {
  const all = Object.keys(names) as Name[];
  return (
    <div class="row toggles" role="group" aria-label={label}>
      {all.map((name) => (
        <button
          key={name}
          type="button"
          class="toggle"
          aria-pressed={chosen.includes(name)}
          onClick={() => onChange(all.filter((one) => (one === name) !== chosen.includes(one)))}
        >
          {names[name]}
        </button>
      ))}
    </div>
  );
}

function DeviceFilter({ workspaceId, deviceId }: { workspaceId: string | null; deviceId: string | null }) {
  const [text, setText] = useState('');
  const search = useLater(text.trim(), LATER_MS);
  const named = useQuery(NameOfDevice, deviceId === null ? null : { id: deviceId });
  const { data } = useQuery(AlertDevices, deviceId === null && search !== '' ? { workspaceId, search } : null);
  const found = search === '' ? [] : (data?.devices.edges.map(({ node }) => node) ?? []);
  if (deviceId !== null)
    return (
      <div class="labelled">
        <span>Device</span>
        <button
          type="button"
          class="tag-filter"
          aria-label={`Not only ${named.data?.device.name ?? 'this device'}`}
          onClick={() => setParameters({ device: null })}
        >
          {named.data?.device.name ?? 'One device'} <Icon name="close" />
        </button>
      </div>
    );
  return (
    <div class="labelled alert-device">
      <label>
        Device
        <input
          type="search"
          placeholder="Name or serial number"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {found.length > 0 && (
        <div class="found-devices">
          {found.map(({ id, name, serialNumber }) => (
            <button
              key={id}
              type="button"
              class="quiet"
              onClick={() => {
                setText('');
                setParameters({ device: id });
              }}
            >
              {name} <small class="mono">{serialNumber}</small>
            </button>
          ))}
        </div>
      )}
    </div>
  );
}
