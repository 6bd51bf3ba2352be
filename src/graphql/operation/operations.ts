import {
  createSourceEventStream,
  execute,
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { yieldForLarge } from '../../scheduling/yield-for-large.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import type { Caller } from '../../scheduling/caller.ts';
import { runAs } from '../../scheduling/current-caller.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import { Lane } from '../../scheduling/lane.ts';
import { LANES } from '../../scheduling/lanes.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { answerTooLarge, MAX_ANSWER_BYTES, type WorkBudget } from '../context/work-budget.ts';
import { admit, declaredVariables, operationKey } from './admission.ts';
import { answerBytes } from '../context/answer-size.ts';
import { LoadedMemory } from '../context/loaded-memory.ts';
import { toldErrors } from '../context/answer-limits.ts';
import { databaseFailure, failed, withinTime } from './operation-end.ts';
import { type CheckedDocument, CheckedDocuments, RefusedDocument } from './checked-documents.ts';
import { compileOperation, type Execute, type WatchExecution } from './compiled-operation.ts';
import type { BetweenMutations } from './planned-execution.ts';
import type { LiveEvent, LiveStream } from '../live/live-stream.ts';
import type { Promised } from '../context/promised.ts';
import { QueryCoalescing, type Executed } from './query-coalescing.ts';
import { LARGE_BYTES, LargeAnswers } from './large-answers.ts';
import { type EventAnswer, EventResponseCache } from './event-response-cache.ts';
import { EventMetering } from './event-metering.ts';
import type { OperationProfile } from './operation-profile.ts';
import { HeldRequests, isLittle, memoryOf } from './held-requests.ts';

/** A client's operation, whichever transport brought it. */
export interface OperationRequest {
  query: string;
  operationName?: string | null | undefined;
  variables?: Record<string, unknown> | null | undefined;
}

/** An operation that may run: checked, priced and admitted. */
export interface AdmittedOperation {
  checked: CheckedDocument;
  operation: OperationDefinitionNode;
  /** Variables that decide about its plan. A subscription keeps no more of its profile than these. */
  deciders: OperationProfile['deciders'];
  request: OperationRequest;
  context: GraphqlContext;
  cost: number;
  /** Estimated bytes of its variables in memory. */
  bytes: number;
  /** The same for queries and subscriptions of one token that are answered alike. */
  sharing: string;
}

/** One execution. */
interface Running {
  context: GraphqlContext;
  /** The event, for a subscription. */
  root?: unknown;
  betweenMutations?: BetweenMutations | undefined;
}

/** Milliseconds per unit of price at worst, and usually. */
const WORST_MS = 0.06;
const USUAL_MS = 0.01;
/** Histories are read by other threads: the event loop is free meanwhile, the processor is not. */
const READING_COUNTS = 0.25;
/** Milliseconds of work on long lists from which it counts, however low its price. */
const LONG_READING_MS = 50;
/** Points that reading threads copy and tidy up per millisecond. */
const POINTS_PER_MS = 2_000;
/** Bytes of long rows loaded per millisecond, at worst. */
const LOADED_BYTES_PER_MS = 30_000;
/** Bytes of an answer written per millisecond. */
const BYTES_PER_MS = 70_000;
/** Memory per byte of a large answer: its pieces, and the whole that they are put together to. */
const WRITTEN_TIMES = 2;
/** Milliseconds of reading a request and writing its answer, refused or not. */
const REQUEST_MS = 0.3;
/** Maximum milliseconds of a mutation beside its price: it also waits for the database. */
const MUTATION_MS = 4;
/** Milliseconds of an error in an answer: it is told with its place, and with a stack. */
const ERROR_MS = 0.2;
/** Milliseconds of sending one message, and characters sent per millisecond more. */
const PUSH_MS = 0.002;
const PUSHED_PER_MS = 1_000_000;
/** The price from which an operation runs alone. */
const DEAR = 2000;
/** The price below which an event is answered with its crowd, and its cost beside its part of that one's time. */
const CHEAP = 30;
const EVENT_MS = 0.02;
const EVENT_BYTES_PER_MS = 20_000;
/** Factor for an event's time, which also stands for making and sending it … */
const PUSHED_COUNTS = 1.5;
/** … and for a dear one, which also stands for what other threads and the database read for it. */
const DEAR_EVENT = 500;
const DEAR_PUSHED_COUNTS = 5;
/** Milliseconds of waiting after which operations are refused when the database does not answer. */
const WAITED_FOR_NOTHING_MS = 4_000;

/** Characters of variables from which only the first mistake is told, as it takes long to write one. */
const LONG_VARIABLES = 16_384;

/** The one way of an operation, over HTTP and WebSocket alike: parse, limits, validation, price, access, turn, execution. */
export class Operations {
  readonly schema: GraphQLSchema;
  readonly documents: CheckedDocuments;
  readonly shares: FairScheduler;
  readonly held: HeldRequests;
  readonly #watch: WatchExecution | undefined;
  readonly #crowd: EventMetering;
  #cheapEvents = 0;
  readonly #answers = new EventResponseCache();
  readonly #mutations = new Lane(LANES.mutations);
  readonly #queries = new QueryCoalescing();
  readonly #memory = new LoadedMemory();
  /** Writes long answers across several turns of the event loop. */
  readonly #large = new LargeAnswers();

  constructor(schema: GraphQLSchema, shares: FairScheduler, watch?: WatchExecution) {
    this.schema = schema;
    this.shares = shares;
    this.held = new HeldRequests(shares);
    this.documents = new CheckedDocuments(schema);
    this.#watch = watch;
    this.#crowd = new EventMetering((party, ms) => shares.spend(party, ms), EVENT_MS);
  }

  /** Throws RefusedDocument, or AppError QUERY_TOO_COMPLEX, UNAUTHENTICATED, OVERLOADED or UNAVAILABLE. */
  async admit(request: OperationRequest, context: GraphqlContext): Promise<AdmittedOperation> {
    const { caller } = context;
    this.shares.spend(caller, REQUEST_MS);
    const kept = this.documents.kept(request.query);
    const admit = async (): Promise<AdmittedOperation> => {
      const started = performance.now();
      try {
        return this.#admit(kept ?? this.documents.check(request.query), request, context);
      } catch (error) {
        if (error instanceof RefusedDocument) this.shares.spend(caller, error.errors.length * ERROR_MS);
        throw error;
      } finally {
        // Charged for a known document, too: long variables take time.
        this.shares.spend(caller, performance.now() - started);
      }
    };
    if (kept !== undefined) return admit();
    const held = { document: null, bytes: this.held.memoryOf(request, caller) };
    const inTurn = (): Promise<AdmittedOperation> => this.shares.run(caller, admit);
    return isLittle(held) ? inTurn() : this.held.during(caller, held, inTurn);
  }

  /**
   * Runs a query or mutation, when it is its caller's turn. An answer that is too large, or not there in time, is an
   * error, and so is OVERLOADED, or UNAVAILABLE when those before it got no answer from the database. Long data comes
   * as JSON, too.
   */
  execute(admitted: AdmittedOperation): Promise<Executed> {
    const { context, checked: document, bytes } = admitted;
    if (isLittle({ document, bytes })) return this.#execute(admitted);
    return this.held.during(context.caller, { document, bytes }, () => this.#execute(admitted)).catch(failed);
  }

  async #execute(admitted: AdmittedOperation): Promise<Executed> {
    const { context, operation, sharing } = admitted;
    if (context.isAnonymous || operation.operation !== OperationTypeNode.QUERY)
      return this.#inTurn(admitted, { context });
    const executed = await this.#queries.of(sharing, context.budget, (budget) =>
      this.#inTurn(admitted, { context: context.again(budget) }),
    );
    if (executed.isShared) this.pushed(admitted, 1, executed.bytes);
    return executed;
  }

  /** Opens the stream of a subscription. */
  subscribe(admitted: AdmittedOperation): Promise<LiveStream | ExecutionResult> {
    const args = { ...this.#args(admitted), contextValue: admitted.context };
    return createSourceEventStream(args) as Promise<LiveStream | ExecutionResult>;
  }

  /** The answer of a subscription to an event, with a fresh context; equal ones of one token get one answer. */
  answer(admitted: AdmittedOperation, { of, value }: LiveEvent): Promised<EventAnswer> {
    const { context } = admitted;
    const make = async (budget?: WorkBudget): Promise<EventAnswer> => {
      const root = await value();
      if (root === null) return { result: null, text: null };
      const { result, written } = await this.#inTurn(admitted, { context: context.again(budget), root });
      if (result.errors !== undefined) return { result, text: null, written };
      return { result, text: written ?? JSON.stringify(result) };
    };
    return of === null ? make() : this.#answers.of(of, admitted.sharing, context.budget, make);
  }

  /** Charges the caller for sending: answers that were made before cost that, too. */
  pushed({ context }: AdmittedOperation, messages: number, characters: number): void {
    this.shares.spend(context.caller, messages * PUSH_MS + characters / PUSHED_PER_MS);
  }

  #admit(checked: CheckedDocument, asked: OperationRequest, context: GraphqlContext): AdmittedOperation {
    const operation = getOperationAST(checked.document, asked.operationName);
    if (!operation)
      throw new RefusedDocument(
        [new GraphQLError('Say by operationName which operation of the document is to run.')],
        'OPERATION_RESOLUTION_FAILURE',
      );
    const variables = declaredVariables(operation, asked.variables ?? {});
    // The document's own text: kept twice otherwise.
    const request = { query: checked.query, operationName: asked.operationName, variables };
    const profile = this.documents.profileOf(checked, operation);
    const source = { schema: this.schema, fragments: checked.fragments, operation };
    const cost = admit(source, profile, variables, context);
    this.documents.keep(checked, context.isAnonymous);
    const sharing =
      context.isAnonymous || operation.operation === OperationTypeNode.MUTATION
        ? ''
        : `${this.#answers.numberOf(context.access)} ${operationKey(checked.hash, operation, profile, variables)}`;
    const { deciders } = profile;
    return { checked, operation, deciders, request, context, cost, bytes: memoryOf(variables), sharing };
  }

  #compiled({ checked, operation, deciders }: AdmittedOperation): Execute {
    const name = operation.name?.value;
    const before = checked.compiled.get(name);
    if (before !== undefined) return before;
    const { fragments, room } = checked;
    const compiled = compileOperation({ schema: this.schema, fragments, operation }, deciders, room);
    const run = this.#watch?.(compiled, execute, operation) ?? compiled;
    checked.compiled.set(name, run);
    return run;
  }

  async #inTurn(admitted: AdmittedOperation, { context, root }: Running): Promise<Executed> {
    const isEvent = root !== undefined;
    const kind = { expensive: admitted.cost >= DEAR, patient: isEvent };
    const isMutation = admitted.operation.operation === OperationTypeNode.MUTATION;
    const betweenMutations = isMutation ? this.#turnsBetween(context.caller, kind) : undefined;
    const begun = (crowd?: { isOver: boolean }): Promise<Executed> =>
      runAs(context.caller, () => this.#run(admitted, { context, root, betweenMutations }, crowd));
    const run = isEvent && admitted.cost < CHEAP ? () => this.#crowd.begin(context.caller).then(begun) : () => begun();
    // A mutation begins in its turn and keeps none: it may wait long for others than us, and must not be cut off.
    if (isMutation) {
      const turn = this.shares.begin(context.caller, kind);
      // Operations without a token sign in, for which they have a queue of their own, and hold nothing.
      const use = context.isAnonymous ? run : () => this.#mutations.use(context.caller, run);
      return turn.then(use).catch(failed);
    }
    return this.shares.run(context.caller, run, kind).catch(failed);
  }

  /** The turns between the mutations of an operation: fifty in one turn would hold up others. */
  #turnsBetween(caller: Caller, kind: { expensive: boolean }): BetweenMutations {
    let from = performance.now();
    return async () => {
      // On SQLite no mutation waits for anything.
      await yieldToEventLoop();
      this.shares.spend(caller, Math.min(performance.now() - from, MUTATION_MS));
      await this.shares.begin(caller, kind);
      from = performance.now();
    };
  }

  /** `crowd`: the crowd in which a cheap event is answered. */
  async #run(admitted: AdmittedOperation, running: Running, crowd?: { isOver: boolean }): Promise<Executed> {
    const { context, root, betweenMutations } = running;
    const { caller, budget } = context;
    const expectedMs = admitted.cost * USUAL_MS;
    this.shares.spend(caller, expectedMs);
    const [started, isEvent] = [performance.now(), root !== undefined];
    let [bytes, errors, isAway] = [0, 0, false];
    if (crowd) this.#cheapEvents += 1;
    const isMutation = admitted.operation.operation === OperationTypeNode.MUTATION;
    const memory = this.#memory.open(caller, () => budget.check(), isMutation);
    budget.memory = memory;
    try {
      // An operation that has waited for its turn may be unwanted, and so may its right be gone.
      budget.check();
      const renewing = context.renew();
      if (renewing instanceof Promise) await renewing;
      const args = { ...this.#args(admitted), rootValue: root, contextValue: context, betweenMutations };
      const executing = this.#compiled(admitted)(args);
      // A result that is there is not waited for: others would have their turn meanwhile, on this caller's account.
      const all =
        executing instanceof Promise ? await (isMutation ? executing : withinTime(executing, budget)) : executing;
      const away = databaseFailure(all, budget);
      errors = all.errors?.length ?? 0;
      isAway = away !== null;
      // Others would wait for their own time-outs one after the other.
      if (away !== null) this.shares.refuse(WAITED_FOR_NOTHING_MS, away);
      if (budget.ended !== null) throw away ?? budget.ended;
      const result = all.errors === undefined ? all : { ...all, errors: toldErrors(all.errors) };
      bytes = answerBytes(result.data, MAX_ANSWER_BYTES);
      if (bytes > MAX_ANSWER_BYTES) throw answerTooLarge();
      const isLarge = bytes > LARGE_BYTES;
      // Within its turn: at most the running ones are in memory at once.
      if (isLarge) await budget.room(WRITTEN_TIMES * bytes);
      const written = isLarge ? await this.#large.write({ data: result.data }, () => budget.check()) : null;
      // Answers that come out together are not written in one turn either.
      if (!isLarge) await yieldForLarge(bytes);
      return { result, bytes, written };
    } catch (error) {
      return failed(error);
    } finally {
      memory.end();
      const { readMs, workedMs, planMs, spent } = context.points;
      const tookMs = performance.now() - started - readMs * (1 - READING_COUNTS) - planMs;
      const longMs = Math.max(0, workedMs - LONG_READING_MS) * READING_COUNTS;
      const beside = crowd ? this.#cheapEvents : 1;
      if (crowd) this.#cheapEvents -= 1;
      const leastMs = isMutation ? MUTATION_MS : 1;
      const mostMs = leastMs + admitted.cost * WORST_MS + budget.loadedBytes / LOADED_BYTES_PER_MS + budget.workedMs;
      const usedMs = isAway // Waiting for a database that does not answer is nobody's work.
        ? expectedMs
        : crowd?.isOver === false // Its crowd pays for the time.
          ? EVENT_MS + bytes / EVENT_BYTES_PER_MS
          : Math.min(tookMs / beside, mostMs) * (isEvent ? pushedCounts(admitted.cost) : 1) +
            bytes / BYTES_PER_MS +
            errors * ERROR_MS;
      this.shares.spend(caller, usedMs + longMs + planMs + spent / POINTS_PER_MS - expectedMs);
    }
  }

  #args({ checked, request }: AdmittedOperation): ExecutionArgs {
    return {
      schema: this.schema,
      document: checked.document,
      operationName: request.operationName ?? null,
      variableValues: request.variables ?? null,
      options: { maxCoercionErrors: mistakesTold(request.variables) },
    };
  }
}

/** Factor by which the time of an event's answer is charged to its caller. */
function pushedCounts(cost: number): number {
  return cost < DEAR_EVENT ? PUSHED_COUNTS : DEAR_PUSHED_COUNTS;
}

/** Maximum mistakes in variables that are told: each is with the object that it is in, in full. */
function mistakesTold(variables: unknown): number {
  return answerBytes(variables, LONG_VARIABLES) > LONG_VARIABLES ? 1 : 50;
}
