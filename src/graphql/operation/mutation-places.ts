import { Lines } from '../../domain/lines.ts';
import type { Party } from '../../domain/party.ts';

/** Mutations that have begun and have no answer: of a token and of a tenant so many, as each may hold megabytes of it … */
const OF_TOKEN = 32;
const OF_TENANT = 64;
/** … and so many of a token wait for a place. */
const MAX_WAITING = 200;

/** Where mutations are carried out: whoever sends them and goes away leaves no more behind than there are places. */
export class MutationPlaces {
  readonly #ofTokens = new Lines({ atOnce: OF_TOKEN, most: OF_TOKEN + MAX_WAITING });
  readonly #ofTenants = new Lines({ atOnce: OF_TENANT, most: Infinity });

  /** What `work` gives, begun when there is a place. Throws OVERLOADED when too many of the token wait. */
  use<T>({ tokenId, tenant }: Party, work: () => Promise<T>): Promise<T> {
    return this.#ofTokens.use(tokenId, () => this.#ofTenants.use(tenant, work));
  }
}
