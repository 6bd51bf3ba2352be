import { Tally } from '../../domain/tally.ts';
import { AppError, badInput } from '../../errors.ts';
import type { CheckedDocument } from '../operation/checked-documents.ts';
import type { AdmittedOperation } from '../operation/operations.ts';

/** Of the variables of one subscription, estimated in bytes: 1,000 ids, 500 fields and a cursor take 210,000. */
const MAX_VARIABLES = 262_144;
/** Of all that the subscriptions of one keep; a document of several counts once. A tenant is most often a workspace. */
const MOST = { connection: 8 * 1_048_576, token: 64 * 1_048_576, tenant: 256 * 1_048_576 };
/** What each takes beside its variables, as long as it or anything that works for it is there. */
const SUBSCRIPTION = 8_192;
/** What a value takes beside its characters, and a list or an object beside its values. */
const VALUE = 32;
const CONTAINER = 64;

/** What the subscriptions of one connection, token or tenant keep together. */
class Holding {
  readonly #documents = new Tally<CheckedDocument>();
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#documents.size === 0;
  }

  /** How much there would be with one more. */
  with(document: CheckedDocument, bytes: number): number {
    return this.#bytes + bytes + (this.#documents.of(document) > 0 ? 0 : document.bytes);
  }

  add(document: CheckedDocument, bytes: number): void {
    this.#bytes = this.with(document, bytes);
    this.#documents.add(document, 1);
  }

  remove(document: CheckedDocument, bytes: number): void {
    this.#documents.add(document, -1);
    this.#bytes -= bytes + (this.#documents.of(document) > 0 ? 0 : document.bytes);
  }
}

/** Bounds what subscriptions keep in memory for as long as they run: hours, in which they may have nothing to do. */
export class KeptSubscriptions {
  readonly #ofConnections = new WeakMap<object, Holding>();
  readonly #ofTokens = new Map<string, Holding>();
  readonly #ofTenants = new Map<string, Holding>();

  /**
   * From now on the subscription counts, until what this gives is called. Throws AppError BAD_USER_INPUT when its
   * variables are too large, OVERLOADED when it is too much together with the others.
   */
  keep(connection: object, { checked, request, context }: AdmittedOperation): () => void {
    const ofVariables = bytesOf(request.variables, 0);
    if (ofVariables > MAX_VARIABLES)
      throw badInput(
        `The variables of a subscription may take ${MAX_VARIABLES} bytes; a value counts ${VALUE} beside its characters.`,
      );
    const bytes = SUBSCRIPTION + ofVariables;
    const { tokenId, tenant } = context.access;
    const holdings = {
      connection: this.#ofConnections.get(connection) ?? new Holding(),
      token: this.#ofTokens.get(tokenId) ?? new Holding(),
      tenant: this.#ofTenants.get(tenant) ?? new Holding(),
    };
    for (const whose of ['connection', 'token', 'tenant'] as const)
      if (holdings[whose].with(checked, bytes) > MOST[whose]) throw tooMuch(whose);
    this.#ofConnections.set(connection, holdings.connection);
    this.#ofTokens.set(tokenId, holdings.token);
    this.#ofTenants.set(tenant, holdings.tenant);
    for (const holding of Object.values(holdings)) holding.add(checked, bytes);
    return () => {
      for (const holding of Object.values(holdings)) holding.remove(checked, bytes);
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

/** About what a value takes in memory; looked at no further than a little over what is allowed. */
function bytesOf(value: unknown, before: number): number {
  if (typeof value === 'string') return before + VALUE + 2 * value.length;
  if (typeof value !== 'object' || value === null) return before + VALUE;
  let bytes = before + CONTAINER;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && bytes <= MAX_VARIABLES; at += 1) bytes = bytesOf(value[at], bytes);
    return bytes;
  }
  for (const name in value) {
    if (bytes > MAX_VARIABLES) break;
    bytes = bytesOf((value as Record<string, unknown>)[name], bytes + VALUE + 2 * name.length);
  }
  return bytes;
}
