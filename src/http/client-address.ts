import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { addressGroup } from './address-group.ts';

/** A request, or whatever else comes from an address. */
export type Sender = Pick<IncomingMessage, 'socket' | 'headers'>;

/**
 * The address that a request comes from: an IPv4 address, an IPv6 network, as the nearest trusted proxy saw it.
 * `trustedProxies` (TRUSTED_PROXIES): number of proxies in front, each of which adds the address it sees to
 * X-Forwarded-For.
 */
export function clientAddress({ socket, headers }: Sender, trustedProxies: number): string {
  if (trustedProxies === 0) return addressGroup(socket.remoteAddress);
  const forwarded = headers['x-forwarded-for'];
  const hops = (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '')).split(',');
  // The client wrote everything further left; with fewer proxies than that, this one too.
  const hop = withoutPort(hops.at(-trustedProxies)?.trim() ?? '');
  return addressGroup(isIP(hop) === 0 ? socket.remoteAddress : hop);
}

/** Some proxies name the port too: `192.0.2.1:5678`, `[2001:db8::1]:5678`. */
function withoutPort(hop: string): string {
  const [, v6, v4] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{1,5})?$/.exec(hop) ?? [];
  return v6 ?? v4 ?? hop;
}
