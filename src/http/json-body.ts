import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Context, Middleware } from 'koa';
import { koaBody } from 'koa-body';
import type { Caller } from '../scheduling/caller.ts';
import { AppError } from '../errors.ts';
import { authenticate, type AuthDeps } from './authenticate.ts';
import { bodyText } from '../domain/text/body-text.ts';
import { type BodyBounds, readBody } from './body.ts';

/** Maximum bytes of a body without a token: signing in is short. */
const MAX_OF_STRANGERS = 65_536;

/**
 * koa-body for the routes that are not on the hot paths: the body of a POST that says it is JSON, as the text
 * `context.request.body`; undefined for every other: the route names what it wanted. It gets the body once that has
 * come within our bounds: by itself it keeps every piece, however small. A body that may be long is read only with a
 * valid token; others up to 64 KiB. Throws what `readBody` throws, and INVALID_BODY for bytes that are no text.
 */
export function jsonBody(bounds: BodyBounds, doorkeepers: AuthDeps): Middleware {
  const read = koaBody({
    // As text: its own JSON refuses keys such as "__proto__", and its errors carry the whole body.
    json: false,
    textTypes: ['json', '+json'],
    textLimit: bounds.maxBytes,
    urlencoded: false,
    multipart: false,
  });
  return async (context, next) => {
    if (context.method === 'POST' && context.is('json', '+json') !== false) {
      // A packed body may be long whatever its length.
      const length =
        context.get('content-encoding') === '' ? Number(context.get('content-length') || Infinity) : Infinity;
      const isShort = length <= MAX_OF_STRANGERS;
      const caller = isShort ? undefined : await callerOf(context.req, doorkeepers);
      const maxBytes = isShort || caller !== undefined ? bounds.maxBytes : MAX_OF_STRANGERS;
      const body = await readBody(context.req, { ...bounds, maxBytes }, caller);
      await read(withBody(context, asUtf8(body, context.get('content-type'))), () => Promise.resolve());
    }
    await next();
  };
}

/** undefined: without a valid token. */
async function callerOf(request: IncomingMessage, doorkeepers: AuthDeps): Promise<Caller | undefined> {
  try {
    return await authenticate(request, doorkeepers);
  } catch (error) {
    if (error instanceof AppError && error.code === 'UNAUTHENTICATED') return undefined;
    throw error;
  }
}

/** The body in UTF-8, without a byte order mark: as it is, or from the charset that its content type declares. */
function asUtf8(body: Buffer, contentType: string): Buffer {
  if (isUtf8(body)) return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
  const text = bodyText(body, contentType);
  if (!text.isWellFormed())
    throw new AppError(
      'INVALID_BODY',
      'The body is not UTF-8, nor in the charset of its Content-Type; send UTF-8, or name the charset: "application/json; charset=…".',
    );
  return Buffer.from(text);
}

/** The context with a request whose body is there, unpacked and at once. */
function withBody(context: Context, body: Buffer): Context {
  const { 'content-encoding': _, ...headers } = context.req.headers;
  const request = new Readable({ read: () => {} });
  request.push(body);
  request.push(null);
  const req = Object.assign(request, { headers: { ...headers, 'content-length': String(body.length) } });
  return Object.create(context, { req: { value: req } }) as Context;
}
