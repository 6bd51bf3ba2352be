import Router from '@koa/router';
import type Koa from 'koa';
import type { Access } from '../domain/access/access.ts';
import { PATHS_OPEN_TO_FIELD_LIMITS } from '../domain/access/field-limits.ts';
import { PATHS, type PathRight } from '../domain/access/path-rights.ts';
import { authenticate, type AuthDeps } from './authenticate.ts';
import { requireMethod } from './require.ts';

/** Answers a path for everybody: fills `context`, or throws an AppError for the error responder. */
export type Handler = (context: Koa.Context) => Promise<void> | void;

/** The same with the access of a token: the handler checks the place that the request is about. */
export type TokenHandler = (context: Koa.Context, access: Access) => Promise<void> | void;

type Paths = typeof PATHS;

/** The paths that are answered in front of the app. */
export type BarePath = { [P in keyof Paths]: Paths[P] extends { bare: true } ? P : never }[keyof Paths];

/** The handler of each path of the table that is not bare. */
export type Handlers = {
  [P in Exclude<keyof Paths, BarePath>]: Paths[P]['needs'] extends 'everybody' ? Handler : TokenHandler;
};

/** Looks up tokens: for every path, and for those where the console's cookie counts too. */
export interface PathDoorkeepers {
  doorkeepers: AuthDeps;
  pageDoorkeepers: AuthDeps;
}

/** The paths of the app: each as its row says, with its methods and rights. There are no others. */
export function createRouter(handlers: Handlers, { doorkeepers, pageDoorkeepers }: PathDoorkeepers): Router {
  const router = new Router();
  for (const [path, row] of Object.entries<PathRight>(PATHS)) {
    if (row.bare) continue;
    const handle = handlers[path as keyof Handlers];
    router.all(row.below ? `${path}{/*rest}` : path, async (context) => {
      requireMethod(context.method, row.methods);
      if (row.needs === 'everybody') return (handle as Handler)(context);
      const access = await authenticate(context.req, row.cookie ? pageDoorkeepers : doorkeepers);
      access.requireOperation(row);
      if (!PATHS_OPEN_TO_FIELD_LIMITS.has(path)) access.requireAllFields();
      return handle(context, access);
    });
  }
  return router;
}
