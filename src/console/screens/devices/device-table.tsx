import { memo } from 'preact/compat';
import { useEffect, useRef } from 'preact/hooks';
import { href, setParameters } from '../../navigation/place.ts';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useWindow } from '../../parts/use-window.ts';
import { valueText } from '../../parts/value-text.ts';
import { type Column, plainText, valueIn } from './columns.ts';
import { type DeviceFilter, sortWord } from './device-filter.ts';
import type { DeviceRow } from './devices.graphql.ts';
import type { Sort } from './sort.ts';
import { changedRow, type LiveChange } from './use-live-rows.ts';
import { useMedia } from './use-media.ts';

const ROW_HEIGHT = 44;
/** Height of a row of two lines. */
const TALL_ROW_HEIGHT = 64;
/** Columns whose values stand in the second line on a phone. */
const ON_PHONE = 2;

interface DeviceTableProps {
  rows: readonly DeviceRow[];
  total: number | null;
  filter: DeviceFilter;
  columns: readonly Column[];
  changes: ReadonlyMap<string, LiveChange>;
  selected: ReadonlySet<string>;
  onSelect: (ids: ReadonlySet<string>) => void;
  /** Called with the visible rows, whenever they change. */
  onSight: (first: number, end: number) => void;
}

/** The list of devices, which draws only the visible rows; on a phone each has two lines. */
export function DeviceTable({ rows, total, filter, columns, changes, selected, onSelect, onSight }: DeviceTableProps) {
  const isPhone = useMedia('(max-width: 48rem)');
  const height = isPhone ? TALL_ROW_HEIGHT : ROW_HEIGHT;
  const body = useRef<HTMLTableSectionElement>(null);
  const { first, end } = useWindow(body, rows.length, height);
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
              disabled={rows.length === 0}
              checked={allSelected}
              onChange={() => onSelect(new Set(allSelected ? [] : rows.map(({ id }) => id)))}
            />
          </th>
          <SortHead sort={{ order: 'NAME' }} name="Device" filter={filter} more="name" />
          {!isPhone && columns.map((column) => <ColumnHead key={column.name} column={column} filter={filter} />)}
          <SortHead sort={{ order: 'LAST_HEARD' }} name="Last heard" filter={filter} more="heard" />
        </tr>
      </thead>
      <tbody ref={body}>
        <Space height={first * height} />
        {rows.slice(first, end).map((row, index) => (
          <Row
            key={row.id}
            index={first + index + 2}
            row={row}
            columns={columns}
            isPhone={isPhone}
            change={changes.get(row.id)}
            isSelected={selected.has(row.id)}
            onToggle={toggle}
          />
        ))}
        <Space height={(rows.length - end) * height} />
      </tbody>
    </table>
  );
}

/**
 * Takes the height of the rows that are not drawn. A single cell: more columns than a phone shows would take room from
 * the names.
 */
function Space({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    <tr aria-hidden="true" style={{ height: `${height}px` }}>
      <td />
    </tr>
  );
}

function ColumnHead({ column: { name, head, sort }, filter }: { column: Column; filter: DeviceFilter }) {
  const more = name === ':product' ? 'product' : name.startsWith(':') ? '' : 'number';
  if (sort !== null) return <SortHead sort={sort} name={head} filter={filter} more={more} />;
  return (
    <th class={more} title={head}>
      {head}
    </th>
  );
}

interface SortHeadProps {
  sort: Sort;
  name: string;
  filter: DeviceFilter;
  more: string;
}

function SortHead({ sort, name, filter, more }: SortHeadProps) {
  const word = sortWord(sort);
  const isChosen = sortWord(filter.sort) === word;
  const turn = (): void =>
    setParameters({
      order: null,
      sort: word,
      // Begin with the device heard last.
      down: (isChosen ? !filter.descending : word === 'heard') ? '1' : null,
    });
  return (
    <th class={more} title={name} aria-sort={isChosen ? (filter.descending ? 'descending' : 'ascending') : undefined}>
      <button type="button" class="sort" onClick={turn}>
        <span>{name}</span>
        <span aria-hidden="true">{isChosen ? (filter.descending ? '↓' : '↑') : ''}</span>
      </button>
    </th>
  );
}

interface RowProps {
  index: number;
  row: DeviceRow;
  columns: readonly Column[];
  isPhone: boolean;
  change: LiveChange | undefined;
  isSelected: boolean;
  onToggle: (id: string) => void;
}

const Row = memo(
  ({ index, row, columns, isPhone, change, isSelected, onToggle }: RowProps) => {
    const device = changedRow(row, change);
    const { id, name, serialNumber, online, lastHeardAt, tags } = device;
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
          {isPhone ? (
            <SecondLine device={device} columns={columns} />
          ) : (
            <>
              <small class="mono">{serialNumber}</small>
              {tags.slice(0, 3).map((tag) => (
                <span key={tag} class="chip">
                  {tag}
                </span>
              ))}
            </>
          )}
        </td>
        {!isPhone && columns.map((column) => <Cell key={column.name} device={device} column={column} />)}
        <td class="heard">
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
    before.columns === after.columns &&
    before.isPhone === after.isPhone &&
    before.onToggle === after.onToggle,
);

/** The serial number, and the values of the first columns with their names. */
function SecondLine({ device, columns }: { device: DeviceRow; columns: readonly Column[] }) {
  const shown = columns.flatMap((column) => {
    const found = plainText(device, column) === null ? valueIn(device, column) : undefined;
    return found === undefined ? [] : [{ column, found }];
  });
  return (
    <small class="second">
      <span class="mono">{device.serialNumber}</span>
      {shown.slice(0, ON_PHONE).map(({ column: { name, head }, found: { value, field } }) => (
        <span key={name}>
          {head} <b>{valueText(value, field.unit)}</b>
        </span>
      ))}
    </small>
  );
}

function Cell({ device, column }: { device: DeviceRow; column: Column }) {
  const text = plainText(device, column);
  if (column.name === ':product')
    return (
      <td class="product">
        <a class="plain" href={href(`/products/${device.product.id}`)}>
          {text}
        </a>
      </td>
    );
  if (text !== null) return <td title={text}>{text}</td>;
  const found = valueIn(device, column);
  return (
    <td class="number" title={found && (found.field.name ?? found.field.identifier)}>
      {found === undefined ? <span class="muted">–</span> : valueText(found.value, found.field.unit)}
    </td>
  );
}
