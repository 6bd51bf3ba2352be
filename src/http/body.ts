import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { Lane } from '../scheduling/lane.ts';
import { LANES } from '../scheduling/lanes.ts';
import { yieldForLarge } from '../scheduling/yield-for-large.ts';
import type { Caller } from '../scheduling/caller.ts';
import { AppError } from '../errors.ts';
import type { BodyMemory } from './body-memory.ts';
import { must } from '../must.ts';

type Decode = (packed: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;
const DECODERS = new Map<string, Decode>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

/** Maximum bytes read and dropped of a refused body, as a multiple of the limit: the sender gets to see the answer. */
const DRAIN_FACTOR = 256;
/** A body up to this size is not counted: a connection takes as much anyway. */
const SMALL_BYTES = 16_384;
/** Maximum pieces per body, and more if each has enough bytes: every piece costs microseconds. */
const [MOST_PIECES, BYTES_A_PIECE] = [8_192, 64];

/** Bounds of a body: its bytes, the pause in which nothing comes, and the memory of all together. */
export interface BodyBounds {
  maxBytes: number;
  idleMs: number;
  memory: BodyMemory;
}

/** The sender went away: no answer is read. */
export class SenderGone extends Error {}

/** Whether the sender is gone, so that nothing kept for the request would be freed from now on. */
export function isSenderGone({ socket }: IncomingMessage): boolean {
  return socket.destroyed;
}

/**
 * The raw body within its bounds (also after unpacking gzip, deflate or br). Throws BODY_TOO_LARGE naming the limit,
 * and drops the rest of such a body; REQUEST_TIMEOUT when it stops coming; OVERLOADED when all bodies together are too
 * much. It counts until `bounds.memory` is told to release the request. A heavy one waits for its turn, and a packed
 * one to be unpacked, by tenants in turn; without `caller` by address.
 */
export async function readBody(request: IncomingMessage, bounds: BodyBounds, caller?: Caller): Promise<Buffer> {
  const body = await readWhole(request, bounds, caller);
  await yieldForLarge(body.length, caller === undefined ? undefined : { tokenId: '', tenant: caller.tenant });
  return body;
}

async function readWhole(request: IncomingMessage, bounds: BodyBounds, caller: Caller | undefined): Promise<Buffer> {
  const { maxBytes, memory } = bounds;
  if (Number(request.headers['content-length']) > maxBytes) {
    drain(request, maxBytes);
    throw tooLarge(maxBytes);
  }
  const packed = await collect(request, bounds);
  const encoding = request.headers['content-encoding']?.trim().toLowerCase();
  const decode = encoding === undefined ? undefined : DECODERS.get(encoding);
  keep(request, packed, memory);
  if (decode === undefined || packed.length === 0) return packed;
  const whose = caller ?? addressAsTenant(memory.addressOf(request));
  const body = await unpacking.use(whose, async () => {
    if (isSenderGone(request)) throw new SenderGone();
    return unpack(packed, decode, maxBytes, must(encoding));
  });
  keep(request, body, memory);
  return body;
}

function keep(request: IncomingMessage, body: Buffer, memory: BodyMemory): void {
  if (body.length <= SMALL_BYTES) return;
  if (isSenderGone(request)) throw new SenderGone();
  memory.keep(request, body.length);
}

/** Unpacks a few at a time: a kilobyte may become a megabyte. */
const unpacking = new Lane(LANES.unpacking);

/** Among packed bodies each address has turns of its own. */
function addressAsTenant(address: string): Caller {
  return { tenant: address, tokenId: address };
}

async function unpack(packed: Buffer, decode: Decode, maxBytes: number, encoding: string): Promise<Buffer> {
  try {
    return await decode(packed, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes);
    throw new AppError('INVALID_BODY', `The body is not valid ${encoding}, as its Content-Encoding says.`);
  }
}

function collect(request: IncomingMessage, { maxBytes, idleMs, memory }: BodyBounds): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let body: Buffer | null = null;
    let size = 0;
    let pieces = 0;
    // Set only for a body that does not come in one piece: a timer for each request would cost.
    const expected = Number(request.headers['content-length'] ?? Infinity);
    let waiting: NodeJS.Timeout | null = null;
    const giveUp = (error: unknown): void => {
      body = null;
      request.removeAllListeners('data');
      drain(request, maxBytes);
      reject(error);
    };
    const idle = (): void => {
      // Bytes behind the answer would be kept and counted for ever.
      giveUp(nothingCame(idleMs));
      setTimeout(() => request.destroy(), 1_000).unref(); // after the answer
    };
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      pieces += 1;
      if (waiting !== null) waiting.refresh();
      else if (size < expected) waiting = setTimeout(idle, idleMs).unref();
      if (size > maxBytes) return giveUp(tooLarge(maxBytes));
      if (areTooMany(pieces, size)) return giveUp(tooManyPieces());
      body = body === null ? chunk : appended(body, size, chunk, maxBytes);
      if (size > SMALL_BYTES && size < expected) memory.hold(request, body.length, giveUp);
    };
    request.on('data', (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        // An error thrown here would end the process.
        giveUp(error);
      }
    });
    request.on('end', () => {
      if (waiting !== null) clearTimeout(waiting);
      resolve(body === null ? Buffer.alloc(0) : body.subarray(0, size));
    });
    request.on('error', () => reject(new SenderGone()));
    request.on('close', () => {
      if (waiting !== null) clearTimeout(waiting);
      if (!request.complete) reject(new SenderGone());
    });
  });
}

/** Joins in place from the second piece on: a list of tiny pieces takes a hundred times their size. */
function appended(body: Buffer, size: number, chunk: Buffer, maxBytes: number): Buffer {
  const before = size - chunk.length;
  const whole = body.length >= size ? body : Buffer.allocUnsafe(Math.min(maxBytes, Math.max(2 * size, SMALL_BYTES)));
  if (whole !== body) body.copy(whole, 0, 0, before);
  chunk.copy(whole, before);
  return whole;
}

/** Reads on and drops the rest, up to a bound. Too late after the answer has ended: Node drops without a bound. */
export function drain(request: IncomingMessage, limit: number): void {
  let [dropped, pieces] = [0, 0];
  const most = Math.max(limit * DRAIN_FACTOR, 1 << 20);
  request.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    pieces += 1;
    if (dropped > most || areTooMany(pieces, dropped)) request.destroy();
  });
  request.resume();
}

function areTooMany(pieces: number, bytes: number): boolean {
  return pieces > MOST_PIECES + bytes / BYTES_A_PIECE;
}

function tooManyPieces(): AppError {
  return new AppError('INVALID_BODY', `The body comes in more than ${MOST_PIECES} tiny chunks; send larger ones.`);
}

/** REQUEST_TIMEOUT: the body stopped coming. */
export function nothingCame(idleMs: number): AppError {
  return new AppError(
    'REQUEST_TIMEOUT',
    `No data of the body arrived for ${idleMs / 1000} seconds; send the request again.`,
  );
}

/** BODY_TOO_LARGE naming the limit in bytes. */
function tooLarge(limit: number): AppError {
  return new AppError('BODY_TOO_LARGE', `The body is over the limit of ${limit} bytes; send it in parts.`, {
    details: { limit },
  });
}
