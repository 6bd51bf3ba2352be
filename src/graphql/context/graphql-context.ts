import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import type { Access } from '../../domain/access/access.ts';
import type { Asker } from '../../domain/devices/device-scan.ts';
import { PointBudget } from '../../domain/history/point-budget.ts';
import { type Caller, anonymousAt } from '../../scheduling/caller.ts';
import { unauthenticated } from '../../errors.ts';
import type { LiveCalls } from '../live/live-calls.ts';
import type { LiveAlerts } from '../live/live-alerts.ts';
import type { LiveDeliveries } from '../live/live-deliveries.ts';
import type { LiveStatus } from '../live/live-status.ts';
import type { LiveMeasurements } from '../live/live-measurements.ts';
import { WorkBudget } from './work-budget.ts';
import type { Promised } from './promised.ts';
import { createLoaders, type Loaders, type LoaderSources } from './loaders.ts';

/** The reason for no access: no header, one without a token, an unreadable one, or a token that is not valid. */
export type NoAccess = 'missing' | 'empty' | 'malformed' | 'invalid';

const NO_ACCESS: Record<NoAccess, string> = {
  missing: 'This needs a token: send the header "Authorization: Token <token>".',
  empty: 'The Authorization header has no token: "Token" is followed by nothing. Is the variable that holds it empty?',
  malformed: 'The Authorization header must be "Token <token>" (or "Bearer <token>").',
  invalid: 'This token is unknown, expired or revoked.',
};

/** Rights that the token of an access has by now; null: the token is gone. */
type ActiveCallers = (access: Access) => Promised<Access | null>;

/** Streams that subscriptions open: type-graphql calls their `subscribe` without a resolver, only with the context. */
export interface LiveSources {
  measurements: LiveMeasurements;
  calls: LiveCalls;
  status: LiveStatus;
  alerts: LiveAlerts;
  deliveries: LiveDeliveries;
}

/**
 * The `@Ctx()` of resolvers. Nothing in it holds a database connection or an EntityManager: a subscription keeps its
 * context for hours. Services come to resolvers through their constructors, not through here.
 */
export class GraphqlContext {
  readonly live: LiveSources;
  /** Points that the histories of this operation may still bring. */
  readonly points: PointBudget;
  readonly budget: WorkBudget;
  /** The account that pays for the work: the token's, or the address's when there is none. */
  readonly caller: Caller;
  /** Address of the request, or of the WebSocket. */
  readonly address: string;
  #presented: Access | NoAccess;
  readonly #present: ActiveCallers | null;
  readonly #sources: LoaderSources;
  #loaded: Loaders | null = null;
  readonly #lists = new Map<FieldNode | undefined, readonly string[]>();
  readonly #listsOfProducts = new Map<FieldNode | undefined, Map<object, readonly string[]>>();

  constructor(
    access: Access | NoAccess,
    address: string,
    sources: LoaderSources,
    live: LiveSources,
    budget = new WorkBudget(),
    present: ActiveCallers | null = null,
  ) {
    this.budget = budget;
    this.#presented = access;
    this.#present = present;
    this.address = address;
    this.caller = typeof access === 'string' ? anonymousAt(address) : access;
    this.points = new PointBudget(budget, this.caller);
    this.#sources = sources;
    this.live = live;
  }

  /** The token's access. Deny by default: throws UNAUTHENTICATED, should the door have let a request without pass. */
  get access(): Access {
    if (typeof this.#presented === 'string') throw unauthenticated(NO_ACCESS[this.#presented]);
    return this.#presented;
  }

  /**
   * Renews the access to what the token may do by now. Called before whatever begins later than the request came: a
   * query that had to wait for its turn, each mutation of a list of them.
   */
  renew(): Promised<void> {
    if (this.#present === null || typeof this.#presented === 'string') return;
    const renewed = this.#present(this.#presented);
    if (!(renewed instanceof Promise)) return this.#renewed(renewed);
    return renewed.then((access) => this.#renewed(access));
  }

  #renewed(access: Access | null): void {
    this.#presented = access ?? 'invalid';
  }

  /** Whether the operation came without a token. */
  get isAnonymous(): boolean {
    return typeof this.#presented === 'string';
  }

  /** Throws what ended the operation: there is nothing to load for it any more. */
  get loaders(): Loaders {
    this.budget.check();
    this.#loaded ??= createLoaders(this.#sources, this.budget);
    return this.#loaded;
  }

  /**
   * The list that a field of the operation is given, one and the same for all parents of it: each gets a copy from
   * type-graphql.
   */
  sameList({ fieldNodes }: GraphQLResolveInfo, list: readonly string[]): readonly string[] {
    const [field] = fieldNodes;
    const known = this.#lists.get(field);
    if (known === undefined) this.#lists.set(field, list);
    return known ?? list;
  }

  /** As `sameList`, of a list that differs by product. */
  sameListOf({ fieldNodes }: GraphQLResolveInfo, product: object, make: () => readonly string[]): readonly string[] {
    const [field] = fieldNodes;
    const lists = this.#listsOfProducts.get(field) ?? new Map<object, readonly string[]>();
    this.#listsOfProducts.set(field, lists);
    const known = lists.get(product) ?? make();
    lists.set(product, known);
    return known;
  }

  /** The party that devices are gone through for: not any more when the operation has ended. */
  get asker(): Asker {
    return { check: () => this.budget.check() };
  }

  /** Drops what was loaded: a mutation of the same operation may have changed it. */
  forget(): void {
    this.#loaded = null;
  }

  /** The context for an operation that runs again or for an event: nothing used up or remembered; it ends with this one. */
  again(budget = new WorkBudget([this.budget])): GraphqlContext {
    return new GraphqlContext(this.#presented, this.address, this.#sources, this.live, budget, this.#present);
  }
}
