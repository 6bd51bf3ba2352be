import type { AppError } from '../errors.ts';

/** Sees to it that this server may go on with its database: that it is alone with it, or among nodes that talk. */
export interface DatabaseGuard {
  /** What to tell callers while nothing may be read or acknowledged (UNAVAILABLE); null: all is well. */
  readonly refusal: AppError | null;
  stop(): Promise<void>;
}

/**
 * The same object, each of whose methods rejects with the guard's refusal while there is one; `stop` always works. Every
 * method must return a promise.
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

/** Whoever does not wait for it would end the process with it. */
function refused(refusal: AppError): Promise<never> {
  const rejected = Promise.reject<never>(refusal);
  rejected.catch(() => {});
  return rejected;
}
