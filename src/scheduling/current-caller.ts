import { AsyncLocalStorage } from 'node:async_hooks';
import { NOBODY, type Caller } from './caller.ts';

const callers = new AsyncLocalStorage<Caller>();

/** Runs `work`, and all that it starts, as this caller. */
export function runAs<T>({ tokenId, tenant }: Caller, work: () => T): T {
  // Nothing else of the caller, as work started here may keep it for long.
  return callers.run({ tokenId, tenant }, work);
}

/** The caller whose work runs here. */
export function currentCaller(): Caller {
  return callers.getStore() ?? NOBODY;
}
