import { SharedBytes } from '../../scheduling/shared-bytes.ts';
import { AppError, badInput } from '../../errors.ts';
import type { CheckedDocument } from '../operation/checked-documents.ts';
import { VALUE } from '../operation/held-requests.ts';
import type { AdmittedOperation } from '../operation/operations.ts';

/** Maximum estimated bytes of one subscription's variables: enough for 1,000 ids, 500 fields and a cursor. */
const MAX_VARIABLES = 262_144;
/**
 * Maximum bytes that all subscriptions of one connection, token or tenant keep; a document of several counts once. A
 * tenant is most often a workspace.
 */
const MOST = { connection: 8 * 1_048_576, token: 64 * 1_048_576, tenant: 256 * 1_048_576 };
/** Bytes of a subscription beside its variables, as long as it or anything that works for it is there. */
const SUBSCRIPTION = 8_192;
/** Bounds what subscriptions keep in memory for as long as they run: hours, in which they may have nothing to do. */
export class KeptSubscriptions {
  readonly #ofConnections = new WeakMap<object, SharedBytes<CheckedDocument>>();
  readonly #ofTokens = new Map<string, SharedBytes<CheckedDocument>>();
  readonly #ofTenants = new Map<string, SharedBytes<CheckedDocument>>();

  /**
   * Counts the subscription until the returned function is called. Throws AppError BAD_USER_INPUT when its variables
   * are too large, OVERLOADED when it is too much together with the others.
   */
  keep(connection: object, { checked, bytes: ofVariables, context }: AdmittedOperation): () => void {
    if (ofVariables > MAX_VARIABLES)
      throw badInput(
        `The variables of a subscription may take ${MAX_VARIABLES} bytes; a value counts ${VALUE} beside its characters.`,
      );
    const what = [checked, checked.bytes, SUBSCRIPTION + ofVariables] as const;
    const { tokenId, tenant } = context.access;
    const holdings = {
      connection: this.#ofConnections.get(connection) ?? new SharedBytes<CheckedDocument>(),
      token: this.#ofTokens.get(tokenId) ?? new SharedBytes<CheckedDocument>(),
      tenant: this.#ofTenants.get(tenant) ?? new SharedBytes<CheckedDocument>(),
    };
    for (const whose of ['connection', 'token', 'tenant'] as const)
      if (holdings[whose].with(...what) > MOST[whose]) throw tooMuch(whose);
    this.#ofConnections.set(connection, holdings.connection);
    this.#ofTokens.set(tokenId, holdings.token);
    this.#ofTenants.set(tenant, holdings.tenant);
    for (const holding of Object.values(holdings)) holding.add(...what);
    return () => {
      for (const holding of Object.values(holdings)) holding.remove(...what);
      if (holdings.token.isEmpty) this.#ofTokens.delete(tokenId);
      if (holdings.tenant.isEmpty) this.#ofTenants.delete(tenant);
    };
  }
}

function tooMuch(whose: keyof typeof MOST): AppError {
  return new AppError(
    'OVERLOADED',
    `The subscriptions of one ${whose} may keep ${MOST[whose]} bytes of documents and variables, and ${SUBSCRIPTION} each. End some of ` +
      'them, use the same document for all, or name fewer devices in each.',
  );
}
