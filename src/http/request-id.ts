import { randomFillSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const GIVEN_ID = /^[\w.:-]{1,128}$/;
const ID = Symbol('request id');
/** Bytes of an id: no two are ever the same, of whatever process, and none tells how many there were. */
const LENGTH = 12;
/** Random bytes for a thousand ids at once: drawing takes longer than all the rest. */
const drawn = Buffer.alloc(LENGTH * 1000);
let used = drawn.length;

type Named = ServerResponse & { [ID]?: string };

/** The id that the sender names in `X-Request-Id`, else a new one. */
export function makeRequestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  const isGiven = typeof given === 'string' && GIVEN_ID.test(given);
  return isGiven ? given : newId();
}

function newId(): string {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  return drawn.toString('base64url', used, (used += LENGTH));
}

/** Gives a request its id, which its answer carries. */
export function giveRequestId(request: IncomingMessage, response: ServerResponse): void {
  (response as Named)[ID] = makeRequestId(request);
}

/** The id of the request that is answered here. */
export function requestIdOf(response: ServerResponse): string {
  return (response as Named)[ID] ?? '';
}
