import { koaBody } from 'koa-body';
import type { Middleware } from 'koa';
import { drain, SenderGone, tooLarge } from './body.ts';

/**
 * koa-body for the routes that are not on the hot paths: a JSON body of at most `limit` bytes, also after unpacking, as
 * `context.request.body`. What is no JSON, or does not say that it is, leaves that undefined: the route says what it
 * wanted. Throws BODY_TOO_LARGE.
 */
export function jsonBody(limit: number): Middleware {
  return koaBody({
    jsonTypes: ['json', '+json'],
    jsonLimit: limit,
    text: false,
    urlencoded: false,
    multipart: false,
    // Its errors carry the whole body: they are looked at here, and go no further.
    onError: (error, { req }) => {
      const { type } = error as { type?: string };
      if (type === 'request.aborted') throw new SenderGone();
      if (type !== 'entity.too.large') return;
      drain(req, limit);
      req.resume();
      throw tooLarge(limit);
    },
  });
}
