import type { DeviceOrder } from '../../api/schema-types.ts';

/** The filter and order of the device list, as the address holds them. */
export interface DeviceFilter {
  search: string;
  productId: string | null;
  tags: string[];
  online: boolean | null;
  orderBy: DeviceOrder;
  descending: boolean;
}

const ORDERS: Readonly<Record<string, DeviceOrder>> = { name: 'NAME', heard: 'LAST_HEARD', created: 'CREATED' };

/** Reads `?search&product&tag&online&order&down`; an invalid part counts as left out. */
export function readFilter(query: URLSearchParams): DeviceFilter {
  const online = query.get('online');
  return {
    search: (query.get('search') ?? '').trim(),
    productId: query.get('product'),
    tags: (query.get('tag') ?? '').split(',').filter((tag) => tag !== ''),
    online: online === 'yes' ? true : online === 'no' ? false : null,
    orderBy: ORDERS[query.get('order') ?? ''] ?? 'NAME',
    descending: query.get('down') === '1',
  };
}

/** True when the filter excludes any device. */
export function isNarrow({ search, productId, tags, online }: DeviceFilter): boolean {
  return search !== '' || productId !== null || tags.length > 0 || online !== null;
}

/** The word for an order in the address. */
export function orderWord(order: DeviceOrder): string {
  return Object.keys(ORDERS).find((word) => ORDERS[word] === order) ?? 'name';
}

/** The arguments of `devices` for a filter, without empty parts. */
export function filterArguments({ search, productId, tags, online, orderBy, descending }: DeviceFilter) {
  return {
    ...(search === '' ? {} : { search }),
    ...(productId === null ? {} : { productId }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(online === null ? {} : { online }),
    orderBy,
    descending,
  };
}
