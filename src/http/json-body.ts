import { koaBody } from 'koa-body';
import type { Middleware } from 'koa';
import { drain, SenderGone, tooLarge } from './body.ts';

/**
 * koa-body for the routes that are not on the hot paths: a body that says it is JSON, at most `limit` bytes, also after
 * unpacking, as the text `context.request.body`; undefined when it does not, or cannot be unpacked: the route says what
 * it wanted. Throws BODY_TOO_LARGE.
 */
export function jsonBody(limit: number): Middleware {
  return koaBody({
    // As text: its own JSON refuses keys such as "__proto__", and its errors carry the whole body.
    json: false,
    textTypes: ['json', '+json'],
    textLimit: limit,
    urlencoded: false,
    multipart: false,
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
