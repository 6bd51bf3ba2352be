import { MemoryPool } from '../../scheduling/memory-pool.ts';
import { POOLS } from '../../scheduling/pools.ts';
import { SharedBytes } from '../../scheduling/shared-bytes.ts';
import { type AppError, badInput } from '../../errors.ts';
import type { CheckedDocument } from '../operation/checked-documents.ts';
import { VALUE } from '../operation/held-requests.ts';
import type { AdmittedOperation } from '../operation/operations.ts';

/** Maximum estimated bytes of one subscription's variables: enough for 1,000 ids, 500 fields and a cursor. */
const MAX_VARIABLES = 262_144;
/** Maximum bytes that all subscriptions of one keep; a document of several counts once. A tenant is most often a workspace. */
const MOST = {
  connection: POOLS.subscriptions.maxBytesPerConnection,
  token: POOLS.subscriptions.maxBytesPerToken,
  tenant: POOLS.subscriptions.maxBytesPerTenant,
};
/** Bytes of a subscription beside its variables, as long as it or anything that works for it is there. */
const SUBSCRIPTION = 8_192;

/** Bounds what subscriptions keep in memory for as long as they run: hours, in which they may have nothing to do. */
export class KeptSubscriptions {
  readonly #pool = new MemoryPool(POOLS.subscriptions);
  readonly #ofConnections = new WeakMap<object, SharedBytes<CheckedDocument>>();

  /**
   * Counts the subscription until the returned function is called. Throws AppError BAD_USER_INPUT when its variables
   * are too large, OVERLOADED when it is too much together with the others.
   */
  keep(connection: object, { checked, bytes: ofVariables, context }: AdmittedOperation): () => void {
    if (ofVariables > MAX_VARIABLES)
      throw badInput(
        `The variables of a subscription may take ${MAX_VARIABLES} bytes; a value counts ${VALUE} beside its characters.`,
      );
    const bytes = SUBSCRIPTION + ofVariables;
    const ofConnection = this.#ofConnections.get(connection) ?? new SharedBytes();
    this.#ofConnections.set(connection, ofConnection);
    const isOver = ofConnection.with(checked, checked.bytes, bytes) > MOST.connection;
    const kept = this.#pool.open(context.access, checked);
    const whose = isOver ? 'connection' : this.#pool.excess(kept, bytes);
    if (whose !== null) {
      this.#pool.close(kept);
      throw this.#tooMuch(whose);
    }
    this.#pool.grow(kept, bytes);
    ofConnection.add(checked, checked.bytes, bytes);
    return () => {
      this.#pool.close(kept);
      ofConnection.remove(checked, checked.bytes, bytes);
    };
  }

  #tooMuch(whose: keyof typeof MOST): AppError {
    return this.#pool.refuse(
      `The subscriptions of one ${whose} may keep ${MOST[whose]} bytes of documents and variables, and ${SUBSCRIPTION} each. ` +
        POOLS.subscriptions.refusal,
    );
  }
}
