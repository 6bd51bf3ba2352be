import type { FieldNode, GraphQLResolveInfo } from 'graphql';
import type { Access } from '../../domain/access/access.ts';
import type { Asker } from '../../domain/devices/device-scan.ts';
import { PointBudget } from '../../domain/history/point-budget.ts';
import { type Caller, anonymousAt } from '../../scheduling/caller.ts';
import { unauthenticated } from '../../errors.ts';
import type { LiveCalls } from '../live/live-calls.ts';
import type { LiveStatus } from '../live/live-status.ts';
import type { LiveMeasurements } from '../live/live-measurements.ts';
import { MOST_ERRORS, MOST_VALUES, ONE_OF_MANY, tooManyErrors, tooManyValues } from './error-bounds.ts';
import { WorkBudget } from './work-budget.ts';
import type { Promised } from './promised.ts';
import { createLoaders, type Loaders, type LoaderSources } from './loaders.ts';

/** Why there is no access: no header, one without a token, one that is unreadable, or a token that is not (or no longer) valid. */
export type NoAccess = 'missing' | 'empty' | 'malformed' | 'invalid';

const NO_ACCESS: Record<NoAccess, string> = {
  missing: 'This needs a token: send the header "Authorization: Token <token>".',
  empty: 'The Authorization header has no token: "Token" is followed by nothing. Is the variable that holds it empty?',
  malformed: 'The Authorization header must be "Token <token>" (or "Bearer <token>").',
  invalid: 'This token is unknown, expired or revoked.',
};

/** So long an answer goes on before it is asked again whether it may. */
const GOES_ON_MS = 1_000;

/** What the token of an access may do by now; null: it is gone. */
type ActiveCallers = (access: Access) => Promised<Access | null>;

/** What subscriptions open; type-graphql calls their `subscribe` without the resolver, so it comes by the context. */
export interface LiveSources {
  measurements: LiveMeasurements;
  calls: LiveCalls;
  status: LiveStatus;
}

/**
 * What resolvers get as `@Ctx()`. Nothing in it holds a database connection or an EntityManager: a subscription keeps
 * its context for hours. Services come to resolvers through their constructors, not through here.
 */
export class GraphqlContext {
  readonly live: LiveSources;
  /** What the histories of this operation may still bring. */
  readonly points: PointBudget;
  readonly budget: WorkBudget;
  /** Whose share of the work this is: the token's, or the address's when there is none. */
  readonly caller: Caller;
  /** Where the request, or the WebSocket, comes from. */
  readonly address: string;
  #presented: Access | NoAccess;
  /** Whether somebody with a token asked. */
  readonly #isKnown: boolean;
  #wentOnAt = Number.NEGATIVE_INFINITY;
  #goingOn: Promise<void> | null = null;
  readonly #present: ActiveCallers | null;
  /** Before each mutation of an operation but the first: waits for the caller's turn again, or throws OVERLOADED. */
  nextTurn: (() => Promise<void>) | null = null;
  /** After a piece of its answer, which took so many ms: waits for the caller's turn however long. */
  nextPiece: ((tookMs: number) => Promise<void>) | null = null;
  readonly #sources: LoaderSources;
  #loaded: Loaders | null = null;
  readonly #lists = new Map<FieldNode | undefined, readonly string[]>();
  #failures = 0;
  #values = 0;
  #answered: PromiseWithResolvers<void> | null = null;
  #isAnswered = false;
  /** Of a mutation: its place among those that answer with much, which it has until it is answered. */
  placeOfLists: Promise<void> | null = null;
  hasPlace = false;
  /** Of a query: when the long lists so far are handed out. */
  lastList: Promise<void> = Promise.resolve();

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
    this.#isKnown = typeof access !== 'string';
    this.#present = present;
    this.address = address;
    this.caller = typeof access === 'string' ? anonymousAt(address) : access;
    this.points = new PointBudget(budget, this.caller);
    this.#sources = sources;
    this.live = live;
  }

  /** Who asks. Deny by default: throws UNAUTHENTICATED when nobody does, should the door ever have let that through. */
  get access(): Access {
    if (typeof this.#presented === 'string') throw unauthenticated(NO_ACCESS[this.#presented]);
    return this.#presented;
  }

  /**
   * From here on the access is what the token may do by now: as for a request that comes now. Asked before whatever begins
   * later than the request came: a query that had to wait for its turn, each mutation of a list of them.
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

  /**
   * `renew` for an answer that has waited, however long. Throws, and ends the operation, when the token is gone. Thousands of
   * lists may wait, and the database may have to be asked: once in a while is enough, and all that go on wait for that.
   */
  async goOn(): Promise<void> {
    this.budget.check();
    if (!this.#isKnown) return;
    const now = performance.now();
    if (now - this.#wentOnAt >= GOES_ON_MS) {
      this.#wentOnAt = now;
      this.#goingOn = this.#renewOrEnd();
    }
    await this.#goingOn;
    this.budget.check();
  }

  async #renewOrEnd(): Promise<void> {
    await this.renew();
    if (typeof this.#presented === 'string') this.budget.end(unauthenticated(NO_ACCESS[this.#presented]));
  }

  get isMutation(): boolean {
    return this.nextTurn !== null;
  }

  /** Whether nobody with a token asks. */
  get isAnonymous(): boolean {
    return typeof this.#presented === 'string';
  }

  /** What ended the operation is thrown here: there is nothing to load for it any more. */
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

  /** What a field threw, as it is to be told; of too many that is one and the same, and the operation has ended. */
  failure(error: unknown): unknown {
    this.#failures += 1;
    if (this.#failures <= MOST_ERRORS) return error;
    this.budget.end(tooManyErrors());
    return ONE_OF_MANY;
  }

  /**
   * An answer is about to have so many more items or fields that are looked up; those of a mutation are counted, as a short
   * text asks for millions. Throws when there are too many of them, or of fields that failed, to look at any more.
   */
  answersWith(count: number): void {
    if (this.isMutation) this.#values += count;
    if (this.#values > MOST_VALUES) this.budget.end(tooManyValues());
    if (this.isTooMuch) throw ONE_OF_MANY;
  }

  /** How many there are of a mutation so far. */
  get values(): number {
    return this.#values;
  }

  /** Whether so many fields have failed, or there are so many values, that the operation has ended. */
  get isTooMuch(): boolean {
    return this.#failures > MOST_ERRORS || this.#values > MOST_VALUES;
  }

  /** The operation has its answer, or has failed: what it had until then is given back. */
  over(): void {
    this.#isAnswered = true;
    this.#answered?.resolve();
  }

  /** Whether it has: what is still under way for it is for nothing. */
  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /** Resolves when it has. */
  async untilAnswered(): Promise<void> {
    if (this.#isAnswered) return;
    this.#answered ??= Promise.withResolvers();
    await this.#answered.promise;
  }

  /** For whom devices are gone through: not any more when the operation has ended. */
  get asker(): Asker {
    return { check: () => this.budget.check() };
  }

  /** What was loaded before a mutation of the same operation may be old after it. */
  forget(): void {
    this.#loaded = null;
  }

  /** The context for an operation that runs again or for an event: nothing used up or remembered; it ends with this one. */
  again(budget = new WorkBudget([this.budget])): GraphqlContext {
    return new GraphqlContext(this.#presented, this.address, this.#sources, this.live, budget, this.#present);
  }
}
