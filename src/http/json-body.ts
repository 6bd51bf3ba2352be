import type { Middleware } from 'koa';
import { type BodyBounds, bodyText, readBody } from './body.ts';

/**
 * The body, as the text `context.request.body`, of a POST that says it is JSON; undefined for every other: the route says
 * what it wanted. Throws what `readBody` throws.
 */
export function jsonBody(bounds: BodyBounds): Middleware {
  return async (context, next) => {
    const request = context.request as { body?: string };
    if (context.method === 'POST' && context.is('json', '+json') !== false)
      request.body = bodyText(await readBody(context.req, bounds));
    await next();
  };
}
