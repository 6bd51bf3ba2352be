import type { DeviceOrder, FieldRole } from '../../api/schema-types.ts';
import { neededFields } from './columns.ts';
import type { Sort } from './sort.ts';
import { conditionInput, readCondition, type ValueCondition } from './value-condition.ts';

/** The filter, order and columns of the device list, as the address holds them. */
export interface DeviceFilter {
  search: string;
  productId: string | null;
  tags: string[];
  online: boolean | null;
  values: ValueCondition[];
  /** True: only devices whose battery is low. */
  lowBattery: boolean;
  sort: Sort;
  descending: boolean;
  /** Names of the columns (`columns.ts`); null: the usual ones. */
  columns: string[] | null;
}

const ORDERS: Readonly<Record<string, DeviceOrder>> = { name: 'NAME', heard: 'LAST_HEARD', created: 'CREATED' };
const ROLES: readonly FieldRole[] = ['PRIMARY', 'SECONDARY', 'BATTERY', 'SIGNAL', 'LOCATION'];

/**
 * Reads `?search&product&tag&online&value&battery&sort&down&columns`; an invalid part counts as left out. `order` is the
 * older name of `sort`.
 */
export function readFilter(query: URLSearchParams): DeviceFilter {
  const online = query.get('online');
  return {
    search: (query.get('search') ?? '').trim(),
    productId: query.get('product'),
    tags: listOf(query.get('tag')),
    online: online === 'yes' ? true : online === 'no' ? false : null,
    values: query.getAll('value').flatMap((text) => readCondition(text) ?? []),
    lowBattery: query.get('battery') === 'low',
    sort: readSort(query.get('sort') ?? query.get('order') ?? ''),
    descending: query.get('down') === '1',
    columns: query.has('columns') ? listOf(query.get('columns')) : null,
  };
}

/** True when the filter excludes any device. */
export function isNarrow({ search, productId, tags, online, values, lowBattery }: DeviceFilter): boolean {
  return search !== '' || productId !== null || tags.length > 0 || online !== null || values.length > 0 || lowBattery;
}

/** The word for an order in the address. */
export function sortWord(sort: Sort): string {
  if ('field' in sort) return `field:${sort.field}`;
  if ('role' in sort) return `role:${sort.role}`;
  return Object.keys(ORDERS).find((word) => ORDERS[word] === sort.order) ?? 'name';
}

/** The conditions of a filter as arguments of `devices` and `updateDevices`, without empty parts. */
export function conditionArguments({ search, productId, tags, online, values, lowBattery }: DeviceFilter) {
  return {
    ...(search === '' ? {} : { search }),
    ...(productId === null ? {} : { productId }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(online === null ? {} : { online }),
    ...(values.length === 0 ? {} : { values: values.map(conditionInput) }),
    ...(lowBattery ? { lowBattery } : {}),
  };
}

/** The arguments of a page of devices for a filter, its order and its columns. */
export function filterArguments(filter: DeviceFilter) {
  const { sort, descending } = filter;
  return {
    ...conditionArguments(filter),
    ...('field' in sort ? { orderByField: sort.field } : {}),
    ...('role' in sort ? { orderByRole: sort.role } : {}),
    ...('order' in sort ? { orderBy: sort.order } : {}),
    descending,
    ...neededFields(filter.columns),
  };
}

function readSort(text: string): Sort {
  const role = ROLES.find((one) => text === `role:${one}`);
  if (role !== undefined) return { role };
  if (text.startsWith('field:') && text.length > 'field:'.length) return { field: text.slice('field:'.length) };
  return { order: ORDERS[text] ?? 'NAME' };
}

function listOf(text: string | null): string[] {
  return (text ?? '').split(',').filter((part) => part !== '');
}
