import { useState } from 'preact/hooks';
import { useStore } from '../../api/store.ts';
import { useQuery } from '../../api/use-query.ts';
import type { SourceScope } from '../../dashboard/use-scopes.ts';
import type { Source } from '../../dashboard/widgets.ts';
import { Icon } from '../../parts/icon.tsx';
import { Note } from '../../parts/note.tsx';
import { useLater } from '../../parts/use-later.ts';
import { workspaceId } from '../../session/session.ts';
import { SourceProducts, SourceSearch } from './dashboards.graphql.ts';
import { counted } from '../../texts/texts.ts';

type Way = 'devices' | 'product' | 'tags';

interface SourcePickerProps {
  chosen: Source | null;
  /** What is chosen stands for; null: not known yet. */
  scope: SourceScope | null;
  error: string | null;
  onChange: (source: Source | null) => void;
}

const LATER_MS = 200;

/** Chooses the devices of a widget: some by name, all of a product, or all with some tags. */
export function SourcePicker({ chosen, scope, error, onChange }: SourcePickerProps) {
  const [way, setWay] = useState<Way>(
    chosen?.productId !== undefined ? 'product' : chosen?.tags !== undefined ? 'tags' : 'devices',
  );
  return (
    <fieldset class="source">
      <legend>Devices</legend>
      <select
        aria-label="Which devices"
        value={way}
        onChange={(event) => {
          setWay(event.currentTarget.value as Way);
          onChange(null);
        }}
      >
        <option value="devices">these devices</option>
        <option value="product">all devices of a product</option>
        <option value="tags">all devices with tags</option>
      </select>
      {way === 'product' && <ProductPick chosen={chosen?.productId ?? ''} onChange={onChange} />}
      {way === 'tags' && (
        <input
          aria-label="Tags"
          placeholder="tags, with commas between; a device has all of them"
          defaultValue={chosen?.tags?.join(', ') ?? ''}
          onChange={(event) => {
            const tags = event.currentTarget.value.split(',').map((tag) => tag.trim());
            const some = [...new Set(tags.filter((tag) => tag !== ''))];
            onChange(some.length === 0 ? null : { tags: some });
          }}
        />
      )}
      {way === 'devices' && <DevicePick ids={chosen?.deviceIds ?? []} scope={scope} onChange={onChange} />}
      {error !== null && <Note kind="error">{error}</Note>}
      {chosen !== null && scope !== null && way !== 'devices' && (
        <small role="status">
          {counted(scope.totalCount, '{count} device', '{count} devices')}
          {scope.totalCount > scope.devices.length && `, of which ${scope.devices.length} are shown`}
        </small>
      )}
    </fieldset>
  );
}

function ProductPick({ chosen, onChange }: { chosen: string; onChange: SourcePickerProps['onChange'] }) {
  const workspace = useStore(workspaceId);
  const { data } = useQuery(SourceProducts, { workspaceId: workspace });
  return (
    <select
      aria-label="Product"
      value={chosen}
      onChange={(event) => {
        const { value } = event.currentTarget;
        onChange(value === '' ? null : { productId: value });
      }}
    >
      <option value="">Choose a product…</option>
      {data?.products.edges.map(({ node: { id, name } }) => (
        <option key={id} value={id} selected={id === chosen}>
          {name}
        </option>
      ))}
    </select>
  );
}

interface DevicePickProps {
  ids: readonly string[];
  scope: SourceScope | null;
  onChange: SourcePickerProps['onChange'];
}

function DevicePick({ ids, scope, onChange }: DevicePickProps) {
  const workspace = useStore(workspaceId);
  const [text, setText] = useState('');
  const search = useLater(text.trim(), LATER_MS);
  const { data } = useQuery(SourceSearch, search === '' ? null : { workspaceId: workspace, search });
  const found = search === '' ? [] : (data?.devices.edges.map(({ node }) => node) ?? []);
  const set = (next: readonly string[]): void => onChange(next.length === 0 ? null : { deviceIds: [...next] });
  return (
    <>
      {ids.length > 0 && (
        <div class="row">
          {ids.map((id) => {
            const name = scope?.devices.find((device) => device.id === id)?.name ?? '…';
            return (
              <button
                key={id}
                type="button"
                class="tag-filter"
                aria-label={`Not ${name}`}
                onClick={() => set(ids.filter((one) => one !== id))}
              >
                {name} <Icon name="close" />
              </button>
            );
          })}
        </div>
      )}
      <input
        type="search"
        aria-label="Find a device"
        placeholder="A device, by name or serial number…"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {found
        .filter(({ id }) => !ids.includes(id))
        .map(({ id, name, serialNumber }) => (
          <button
            key={id}
            type="button"
            class="quiet found"
            onClick={() => {
              set([...ids, id]);
              setText('');
            }}
          >
            <Icon name="plus" /> {name} <small class="mono">{serialNumber}</small>
          </button>
        ))}
    </>
  );
}
