import { BlockList, isIP } from 'node:net';

/** A list of address ranges, written as `10.0.0.0/8`. */
function ranges(...written: string[]): BlockList {
  const list = new BlockList();
  for (const range of written) {
    const [address, bits] = range.split('/') as [string, string];
    list.addSubnet(address, Number(bits), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

/** Networks of one's own. */
const PRIVATE = ranges('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7', 'fec0::/10');

/** This machine, its link, its cloud's metadata, and what is nobody's: for hosts that the operator names alone. */
const NEVER = ranges(
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Metadata of clouds that lies elsewhere.
  '100.100.100.200/32',
  '168.63.129.16/32',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
  'fd00:c1::a9fe:a9fe/128',
  'fd00:42::42/128',
  // Tunnels (Teredo, 6to4), documentation, and local use of translation: an IPv4 address inside may be any.
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
);
/** The only IPv6 addresses that are public. */
const GLOBAL = ranges('2000::/3');
/** IPv6 that holds an IPv4 address in its last 32 bits: mapped, and translated by NAT64. */
const HOLDS_IPV4 = ranges('::ffff:0:0/96', '64:ff9b::/96');

/** Where an address leads. */
type Place = 'public' | 'private' | 'never';

/** The place that an IP address leads to. */
export function placeOf(address: string): Place {
  const bare = address.replace(/%.*$/, '');
  if (isIP(bare) === 4) return NEVER.check(bare, 'ipv4') ? 'never' : PRIVATE.check(bare, 'ipv4') ? 'private' : 'public';
  if (isIP(bare) !== 6) return 'never';
  if (HOLDS_IPV4.check(bare, 'ipv6')) return placeOf(ipv4In(bare));
  if (NEVER.check(bare, 'ipv6')) return 'never';
  if (PRIVATE.check(bare, 'ipv6')) return 'private';
  return GLOBAL.check(bare, 'ipv6') ? 'public' : 'never';
}

/** The last 32 bits of an IPv6 address, as an IPv4 address. */
function ipv4In(address: string): string {
  // The URL parser writes every IPv6 address in one form, an IPv4 tail included.
  const groups = new URL(`http://[${address}]/`).hostname.slice(1, -1).split(':').slice(-2);
  const [high = 0, low = 0] = groups.map((group) => (group === '' ? 0 : Number.parseInt(group, 16)));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** The operator's settings. */
export interface AddressSettings {
  allowPrivateNetworks: boolean;
  /** Host names and addresses in lower case, without brackets. */
  allowedHosts: ReadonlySet<string>;
}

/**
 * The reason why a host may not be called at the addresses it has, naming the setting that would allow it; null: it may.
 * Every one of them is judged, as any may be connected to.
 */
export function refusalOf(host: string, addresses: readonly string[], settings: AddressSettings): string | null {
  if (settings.allowedHosts.has(host.toLowerCase())) return null;
  for (const address of addresses) {
    const place = placeOf(address);
    const named = address === host ? host : `${host} (${address})`;
    if (place === 'never')
      return (
        `${named} is a loopback, link-local, metadata or reserved address: calls go there only for exact hosts in ` +
        'WEBHOOK_ALLOWED_HOSTS.'
      );
    if (place === 'private' && !settings.allowPrivateNetworks)
      return `${named} is in a private network: calls go there only with WEBHOOK_PRIVATE_NETWORKS=allow.`;
  }
  return null;
}
