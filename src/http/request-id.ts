import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const GIVEN_ID = /^[\w.:-]{1,128}$/;
const ID = Symbol('request id');
/** Tells this process from others and from itself before a restart. */
const PROCESS = randomBytes(6).toString('hex');
let count = 0;

type Named = ServerResponse & { [ID]?: string };

/** The id that the sender names in `X-Request-Id`, else a new one. */
export function makeRequestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  const isGiven = typeof given === 'string' && GIVEN_ID.test(given);
  return isGiven ? given : `${PROCESS}.${(++count).toString(36)}`;
}

/** Gives a request its id, which its answer carries. */
export function giveRequestId(request: IncomingMessage, response: ServerResponse): void {
  (response as Named)[ID] = makeRequestId(request);
}

/** The id of the request that is answered here. */
export function requestIdOf(response: ServerResponse): string {
  return (response as Named)[ID] ?? '';
}
