import type { IncomingMessage } from 'node:http';

/** In characters; browsers send 150. Libraries take up to 9 ms for the 14,000 that a head may hold. */
const MAX_CHARACTERS = 500;

/** What a client would like best is anybody's to say: at length it counts as not said (RFC 9110, 12.5.1 and 12.5.3). */
export function boundNegotiation({ headers }: IncomingMessage): void {
  if (isLong(headers.accept)) headers.accept = '*/*';
  if (isLong(headers['accept-encoding'])) headers['accept-encoding'] = 'identity';
}

function isLong(header: string | undefined): boolean {
  return header !== undefined && header.length > MAX_CHARACTERS;
}
