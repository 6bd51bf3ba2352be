import { AsyncLocalStorage } from 'node:async_hooks';
import { NOBODY, type Party } from './party.ts';

const parties = new AsyncLocalStorage<Party>();

/** Runs `work`; in whatever line it waits, it is this party that does. */
export function worksFor<T>({ tokenId, tenant }: Party, work: () => T): T {
  // Nothing more of the party: what is begun here may remember it for long.
  return parties.run({ tokenId, tenant }, work);
}

/** For whom is worked here. */
export function whoseWork(): Party {
  return parties.getStore() ?? NOBODY;
}
