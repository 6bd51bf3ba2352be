import { AsyncLocalStorage } from 'node:async_hooks';
import { NOBODY, type Caller } from './caller.ts';

const parties = new AsyncLocalStorage<Caller>();

/** Runs `work`; in whatever line it waits, it is this party that does. */
export function runAs<T>({ tokenId, tenant }: Caller, work: () => T): T {
  // Nothing more of the party: what is begun here may remember it for long.
  return parties.run({ tokenId, tenant }, work);
}

/** For whom is worked here. */
export function currentCaller(): Caller {
  return parties.getStore() ?? NOBODY;
}
