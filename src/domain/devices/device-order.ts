import type { Dialect } from '../ports/database.ts';
import type { Conditions } from './device-scan.ts';
import { sortedLineSql } from './device-search-text.ts';
import { compareSorted } from './value-look.ts';

/** Orders of devices (contract `DeviceOrder`); ties by the order of creation. */
export const DEVICE_ORDERS = ['NAME', 'LAST_HEARD', 'CREATED'] as const;
/** One of `DEVICE_ORDERS`. */
export type DeviceOrder = (typeof DEVICE_ORDERS)[number];

/** Last receipt time of a device. 0 is NOT_HEARD: only values from files. */
export const HEARD =
  '(select s.last_heard_at from device_state s where s.device_key = d."key" and s.last_heard_at > 0)';
/** Last receipt time for sorting: never is before every time. */
export const LAST_HEARD = `coalesce(${HEARD}, -1)`;

/** Position of a device in an order: the value it is sorted by (its key alone for CREATED), then its key. */
export type DevicePosition = [sortedBy: string | number, key: number];

/** A row of `device d`, with `columns` of its order. */
interface Sorted {
  key: number;
  sorted_by?: string | number;
}

/** SQL and functions of one order of devices. */
export interface SortedDevices {
  /** True when sorted by the key alone. */
  byKey: boolean;
  descending: boolean;
  /** Columns to select with each device. */
  columns: string;
  sql: string;
  positionOf: (row: Sorted) => DevicePosition;
  /** Condition that a device comes behind the position, or before it. */
  behind: (position: DevicePosition) => Conditions;
  before: (position: DevicePosition) => Conditions;
  /** Compares two positions: negative when the first comes first. */
  compare: (one: DevicePosition, other: DevicePosition) => number;
  /** Merges two lists of this order. */
  merge: <Row extends Sorted>(some: readonly Row[], others: readonly Row[]) => Row[];
}

/** Sorts by bytes on both databases, whatever PostgreSQL's collation. */
export function sortedDevices(order: DeviceOrder, descending: boolean, dialect: Dialect): SortedDevices {
  const column = sortColumn(order, dialect);
  const direction = descending ? 'desc' : 'asc';
  const positionOf = (row: Sorted): DevicePosition => [
    // PostgreSQL gives a bigint as text.
    order === 'NAME' ? String(row.sorted_by) : Number(row.sorted_by ?? row.key),
    row.key,
  ];
  const compared =
    (than: string) =>
    ([sortedBy, key]: DevicePosition): Conditions =>
      column === null
        ? { sql: [`d."key" ${than} ?`], values: [key] }
        : { sql: [`(${column}, d."key") ${than} (?, ?)`], values: [sortedBy, key] };
  const compare = (one: DevicePosition, other: DevicePosition): number =>
    (descending ? -1 : 1) * comparePositions(one, other);
  return {
    byKey: column === null,
    descending,
    columns: column === null ? '' : `, ${column} as sorted_by`,
    sql: `order by ${column === null ? '' : `${column} ${direction}, `}d."key" ${direction}`,
    positionOf,
    behind: compared(descending ? '<' : '>'),
    before: compared(descending ? '>' : '<'),
    compare,
    merge: (some, others) => merged(some, others, positionOf, compare),
  };
}

/** The order of values of a field, given as `sorted_by`: a device without one is last, either way. */
export function sortedByValue(
  descending: boolean,
): Pick<SortedDevices, 'columns' | 'positionOf' | 'compare' | 'merge'> {
  const positionOf = ({ sorted_by, key }: Sorted): DevicePosition => [String(sorted_by), key];
  const compare = ([one, key]: DevicePosition, [other, otherKey]: DevicePosition): number =>
    compareSorted(String(one), String(other), descending) || (descending ? otherKey - key : key - otherKey);
  return {
    columns: '',
    positionOf,
    compare,
    merge: (some, others) => merged(some, others, positionOf, compare),
  };
}

function merged<Row extends Sorted>(
  some: readonly Row[],
  others: readonly Row[],
  positionOf: SortedDevices['positionOf'],
  compare: SortedDevices['compare'],
): Row[] {
  return [...some, ...others].toSorted((one, other) => compare(positionOf(one), positionOf(other)));
}

/** The column to sort by; null: the key alone. */
function sortColumn(order: DeviceOrder, dialect: Dialect): string | null {
  if (order === 'CREATED') return null;
  if (order === 'LAST_HEARD') return LAST_HEARD;
  return sortedLineSql(dialect);
}

function comparePositions([a, key]: DevicePosition, [b, otherKey]: DevicePosition): number {
  const bySorted =
    typeof a === 'number' || typeof b === 'number'
      ? Number(a) - Number(b)
      : Buffer.compare(Buffer.from(a), Buffer.from(b));
  return bySorted || key - otherKey;
}
