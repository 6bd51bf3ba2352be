import { must } from '../must.ts';

/** The group that an address counts in: an IPv4 address itself, of IPv6 the /64 of one customer. Takes any text. */
export function addressGroup(address: string | undefined): string {
  if (address === undefined) return '';
  const v4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (v4 !== undefined) return v4;
  const [head, tail] = must(address.split('%', 1)[0]).split('::', 2) as [string, string?];
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const parts = [...left, ...Array<string>(zeros).fill('0'), ...right].slice(0, 4);
  // However a proxy writes it.
  return parts.map((part) => part.toLowerCase().replace(/^0+(?=.)/, '')).join(':');
}
