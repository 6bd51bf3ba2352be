import type { IncomingMessage } from 'node:http';

/** Maximum characters per header; browsers send 150, and libraries take milliseconds for long ones. */
const MAX_CHARACTERS = 500;

/** Drops preferences that are too long: they count as not given (RFC 9110, 12.5.1 and 12.5.3). */
export function boundNegotiation({ headers }: IncomingMessage): void {
  if (isLong(headers.accept)) headers.accept = '*/*';
  if (isLong(headers['accept-encoding'])) headers['accept-encoding'] = 'identity';
}

function isLong(header: string | undefined): boolean {
  return header !== undefined && header.length > MAX_CHARACTERS;
}
