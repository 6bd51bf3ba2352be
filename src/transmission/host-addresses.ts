import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { ResourcePool } from '../scheduling/resource-pool.ts';

/** Time of one question to a name server, and how often it is asked. */
const ASK_MS = 4_000;
const ASKED = 2;
/** Maximum look-ups at once by the system: each takes one of the process's few threads, for as long as names hang. */
const SYSTEM_AT_ONCE = 1;

/** Finds the addresses of a host. */
export type FindAddresses = (host: string) => Promise<string[]>;

const resolver = new Resolver({ timeout: ASK_MS, tries: ASKED });
const places = new ResourcePool(SYSTEM_AT_ONCE, () => null);

/**
 * Every address that a host has now; the host itself if it is one. Names with a dot are asked of the name servers, which
 * takes no thread; what these do not know, and names of this network, the system looks up (hosts file, search domains).
 * Rejects when there is none.
 */
export const addressesOf: FindAddresses = async (host) => {
  if (isIP(host) !== 0) return [host];
  if (host.includes('.')) {
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length > 0) return found;
    const hangs = answers.some(
      (answer) => answer.status === 'rejected' && (answer.reason as { code?: string }).code === 'ETIMEOUT',
    );
    if (hangs) throw new Error(`The name servers do not answer for ${host}.`);
  }
  const found = await places.use(() => lookup(host, { all: true }));
  return found.map(({ address }) => address);
};
