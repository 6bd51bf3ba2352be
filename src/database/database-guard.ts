import type { AppError } from '../errors.ts';

/** Ensures that this server may use its database: alone, or among nodes that talk to each other. */
export interface DatabaseGuard {
  /** Error for callers while nothing may be read or acknowledged (UNAVAILABLE); null: all is well. */
  readonly refusal: AppError | null;
  stop(): Promise<void>;
}

/**
 * Wraps an object so that each method but `stop` rejects with the guard's refusal while there is one. Every method must
 * return a promise.
 */
export function guarded<Target extends object>(target: Target, guard: DatabaseGuard): Target {
  const methods = new Map<PropertyKey, unknown>();
  return new Proxy(target, {
    get: (_, name) => {
      const known = methods.get(name);
      if (known !== undefined) return known;
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const method = (...args: unknown[]): unknown => {
        if (guard.refusal !== null && name !== 'stop') return refused(guard.refusal);
        return Reflect.apply(value, target, args);
      };
      methods.set(name, method);
      return method;
    },
  });
}

/** Avoids an unhandled rejection if the promise is ignored. */
function refused(refusal: AppError): Promise<never> {
  const rejected = Promise.reject<never>(refusal);
  rejected.catch(() => {});
  return rejected;
}
