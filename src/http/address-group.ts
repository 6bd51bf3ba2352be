/** Whom an address stands for: an IPv4 address itself, of IPv6 the /64 that one customer is given. */
export function addressGroup(address: string | undefined): string {
  if (address === undefined) return '';
  const v4 = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (v4 !== undefined) return v4;
  const [head, tail] = address.split('%', 1)[0]!.split('::', 2) as [string, string?];
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const groups = tail === undefined ? left : [...left, ...Array(8 - left.length - right.length).fill('0'), ...right];
  return groups.slice(0, 4).join(':');
}
