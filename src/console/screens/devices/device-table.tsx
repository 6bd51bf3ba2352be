import { memo } from 'preact/compat';
import { useEffect, useRef } from 'preact/hooks';
import type { DeviceOrder, FieldRole } from '../../api/schema-types.ts';
import { href, setParameters } from '../../navigation/place.ts';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useWindow } from '../../parts/use-window.ts';
import { valueText } from '../../parts/value-text.ts';
import { type DeviceFilter, orderWord } from './device-filter.ts';
import type { DeviceRow } from './devices.graphql.ts';
import { changedRow, type LiveChange } from './use-live-rows.ts';

const ROW_HEIGHT = 44;

interface DeviceTableProps {
  rows: readonly DeviceRow[];
  total: number | null;
  filter: DeviceFilter;
  changes: ReadonlyMap<string, LiveChange>;
  selected: ReadonlySet<string>;
  onSelect: (ids: ReadonlySet<string>) => void;
  /** Called with the visible rows, whenever they change. */
  onSight: (first: number, end: number) => void;
}

/** The list of devices, which draws only the visible rows. */
export function DeviceTable({ rows, total, filter, changes, selected, onSelect, onSight }: DeviceTableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const { first, end } = useWindow(body, rows.length, ROW_HEIGHT);
  useEffect(() => onSight(first, end), [first, end]);
  const allSelected = rows.length > 0 && rows.every(({ id }) => selected.has(id));
  const toggle = (id: string): void => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    onSelect(next);
  };
  return (
    <table class="devices" aria-rowcount={(total ?? rows.length) + 1}>
      <thead>
        <tr>
          <th class="pick">
            <input
              type="checkbox"
              aria-label="Select all that are shown"
              checked={allSelected}
              onChange={() => onSelect(new Set(allSelected ? [] : rows.map(({ id }) => id)))}
            />
          </th>
          <SortHead order="NAME" name="Device" filter={filter} />
          <th class="wide">Product</th>
          <th class="number">Value</th>
          <th class="number wide">Second</th>
          <th class="number narrow">Battery</th>
          <th class="number narrow">Signal</th>
          <SortHead order="LAST_HEARD" name="Last heard" filter={filter} />
        </tr>
      </thead>
      <tbody ref={body}>
        <Space rows={first} />
        {rows.slice(first, end).map((row, index) => (
          <Row
            key={row.id}
            index={first + index + 2}
            row={row}
            change={changes.get(row.id)}
            isSelected={selected.has(row.id)}
            onToggle={toggle}
          />
        ))}
        <Space rows={rows.length - end} />
      </tbody>
    </table>
  );
}

/**
 * Takes the height of the rows that are not drawn. A single cell: more columns than a phone shows would take room from
 * the names.
 */
function Space({ rows }: { rows: number }) {
  if (rows <= 0) return null;
  return (
    <tr aria-hidden="true" style={{ height: `${rows * ROW_HEIGHT}px` }}>
      <td />
    </tr>
  );
}

function SortHead({ order, name, filter }: { order: DeviceOrder; name: string; filter: DeviceFilter }) {
  const isChosen = filter.orderBy === order;
  const turn = (): void =>
    setParameters({
      order: orderWord(order),
      // Begin with the device heard last.
      down: (isChosen ? !filter.descending : order === 'LAST_HEARD') ? '1' : null,
    });
  return (
    <th aria-sort={isChosen ? (filter.descending ? 'descending' : 'ascending') : undefined}>
      <button type="button" class="sort" onClick={turn}>
        {name}
        <span aria-hidden="true">{isChosen ? (filter.descending ? ' ↓' : ' ↑') : ''}</span>
      </button>
    </th>
  );
}

interface RowProps {
  index: number;
  row: DeviceRow;
  change: LiveChange | undefined;
  isSelected: boolean;
  onToggle: (id: string) => void;
}

const Row = memo(
  ({ index, row, change, isSelected, onToggle }: RowProps) => {
    const device = changedRow(row, change);
    const { id, name, serialNumber, online, lastHeardAt, tags, product } = device;
    return (
      <tr aria-rowindex={index} aria-selected={isSelected}>
        <td class="pick">
          <input type="checkbox" aria-label={`Select ${name}`} checked={isSelected} onChange={() => onToggle(id)} />
        </td>
        <td class="name">
          <span
            class="dot"
            data-online={online}
            role="img"
            aria-label={online ? 'online' : 'silent'}
            title={online ? 'online' : 'silent'}
          />
          <a href={href(`/devices/${id}`)}>{name}</a>
          <small class="mono">{serialNumber}</small>
          {tags.slice(0, 3).map((tag) => (
            <span key={tag} class="chip">
              {tag}
            </span>
          ))}
        </td>
        <td class="wide">
          <a class="plain" href={href(`/products/${product.id}`)}>
            {product.name}
          </a>
        </td>
        <RoleCell device={device} role="PRIMARY" />
        <RoleCell device={device} role="SECONDARY" more="wide" />
        <RoleCell device={device} role="BATTERY" more="narrow" />
        <RoleCell device={device} role="SIGNAL" more="narrow" />
        <td>
          <TimeAgo at={lastHeardAt} />
        </td>
      </tr>
    );
  },
  (before, after) =>
    before.row === after.row &&
    before.change === after.change &&
    before.isSelected === after.isSelected &&
    before.index === after.index &&
    before.onToggle === after.onToggle,
);

/** The value of the field with a role; without one, the first column shows the first field. */
function RoleCell({ device, role, more = '' }: { device: DeviceRow; role: FieldRole; more?: string }) {
  const { latest } = device;
  const found =
    latest.find(({ field }) => field.role === role) ??
    (role === 'PRIMARY' ? latest.find(({ field }) => field.role === null && field.type !== 'GEOLOCATION') : undefined);
  return (
    <td class={`number ${more}`} title={found && (found.field.name ?? found.field.identifier)}>
      {found === undefined ? <span class="muted">–</span> : valueText(found.value, found.field.unit)}
    </td>
  );
}
