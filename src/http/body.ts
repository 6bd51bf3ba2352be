import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { AppError } from '../errors.ts';

const DECODERS = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

/** How much of a refused body is still read and thrown away, so that the sender gets to see the answer. */
const DRAIN_FACTOR = 256;

/** How large a body may be, in bytes, and for how long it may stop coming. */
export interface BodyBounds {
  maxBytes: number;
  idleMs: number;
}

/** The sender went away while sending: there is nobody to answer. */
export class SenderGone extends Error {}

/**
 * The raw body within its bounds (also after unpacking gzip, deflate or br). Throws BODY_TOO_LARGE naming the limit,
 * and what is left of such a body is read and dropped; REQUEST_TIMEOUT when it stops coming.
 */
export async function readBody(request: IncomingMessage, bounds: BodyBounds): Promise<Buffer> {
  const limit = bounds.maxBytes;
  if (Number(request.headers['content-length']) > limit) {
    drain(request, limit);
    throw tooLarge(limit);
  }
  const body = await collect(request, bounds);
  const encoding = request.headers['content-encoding']?.trim().toLowerCase();
  const decode = encoding === undefined ? undefined : DECODERS.get(encoding);
  if (decode === undefined || body.length === 0) return body;
  try {
    return await decode(body, { maxOutputLength: limit });
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(limit);
    throw new AppError('INVALID_BODY', `The body is not valid ${encoding}, as its Content-Encoding says.`);
  }
}

function collect(request: IncomingMessage, { maxBytes, idleMs }: BodyBounds): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let first: Buffer | null = null;
    let rest: Buffer[] | null = null;
    let size = 0;
    // Set only for a body that does not come in one piece: a timer for each request would cost.
    const expected = Number(request.headers['content-length'] ?? Infinity);
    let waiting: NodeJS.Timeout | null = null;
    const idle = (): void => {
      reject(new AppError('REQUEST_TIMEOUT', `Nothing of the body came for ${idleMs / 1000} seconds; send it again.`));
      setTimeout(() => request.destroy(), 1_000).unref(); // after the answer
    };
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (waiting !== null) waiting.refresh();
      else if (size < expected) waiting = setTimeout(idle, idleMs).unref();
      if (size > maxBytes) {
        request.removeAllListeners('data');
        drain(request, maxBytes);
        reject(tooLarge(maxBytes));
      } else if (first === null) first = chunk;
      else (rest ??= [first]).push(chunk);
    });
    request.on('end', () => {
      if (waiting !== null) clearTimeout(waiting);
      resolve(rest !== null ? Buffer.concat(rest, size) : (first ?? Buffer.alloc(0)));
    });
    request.on('error', () => reject(new SenderGone()));
    request.on('close', () => {
      if (waiting !== null) clearTimeout(waiting);
      if (!request.complete) reject(new SenderGone());
    });
  });
}

/** Reads on and drops what comes, up to a bound. */
export function drain(request: IncomingMessage, limit: number): void {
  let dropped = 0;
  const most = Math.max(limit * DRAIN_FACTOR, 1 << 20);
  request.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped > most) request.destroy();
  });
}

/** BODY_TOO_LARGE naming the limit in bytes. */
export function tooLarge(limit: number): AppError {
  return new AppError('BODY_TOO_LARGE', `The body is over the limit of ${limit} bytes; send it in parts.`, {
    details: { limit },
  });
}

/** Body bytes as text: UTF-8, or UTF-16 where a byte order mark says so. The mark itself is dropped. */
export function bodyText(body: Buffer): string {
  const [a, b, c] = body;
  if (a === 0xef && b === 0xbb && c === 0xbf) return body.toString('utf8', 3);
  if (a === 0xff && b === 0xfe) return new TextDecoder('utf-16le').decode(body);
  if (a === 0xfe && b === 0xff) return new TextDecoder('utf-16be').decode(body);
  return body.toString('utf8');
}
