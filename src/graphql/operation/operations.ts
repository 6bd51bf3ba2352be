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
import type { Caller } from '../../scheduling/caller.ts';
import { runAs } from '../../scheduling/current-caller.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import { KeyedSemaphore } from '../../scheduling/keyed-semaphore.ts';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { answerTooLarge, MAX_ANSWER_BYTES, type WorkBudget } from '../context/work-budget.ts';
import { admit, declaredVariables } from './admission.ts';
import { answerBytes } from '../context/answer-size.ts';
import { LoadedMemory } from '../context/loaded-memory.ts';
import { toldErrors } from '../context/answer-limits.ts';
import { databaseFailure } from './database-failure.ts';
import { type CheckedDocument, CheckedDocuments } from './checked-documents.ts';
import { compileOperation, type Execute, type WatchExecution } from './compiled-operation.ts';
import type { LiveEvent, LiveStream } from '../live/live-stream.ts';
import type { Promised } from '../context/promised.ts';
import { QueryCoalescing, type Executed } from './query-coalescing.ts';
import { LARGE_BYTES, LargeAnswers } from './large-answers.ts';
import { RefusedDocument } from './refused-document.ts';
import { failed } from './failed.ts';
import { type EventAnswer, EventResponseCache } from './event-response-cache.ts';
import { EventMetering } from './event-metering.ts';
import { operationKey } from './operation-key.ts';
import { memoryOf } from './held-memory.ts';
import { HeldRequests, isLittle } from './held-requests.ts';
import { mistakesTold } from './mistakes-told.ts';
import { withinTime } from './within-time.ts';

/** What a client asks, whichever transport brought it. */
export interface OperationRequest {
  query: string;
  operationName?: string | null | undefined;
  variables?: Record<string, unknown> | null | undefined;
}

/** An operation that may run: checked, priced and admitted. */
export interface AdmittedOperation {
  checked: CheckedDocument;
  operation: OperationDefinitionNode;
  request: OperationRequest;
  context: GraphqlContext;
  cost: number;
  /** About what its variables take in memory. */
  bytes: number;
  /** The same for queries and subscriptions of one token that are answered alike. */
  sharing: string;
}

/** One execution. */
interface Running {
  context: GraphqlContext;
  /** The event, of a subscription. */
  root?: unknown;
}

/** Milliseconds that a unit of price takes at worst, and usually. */
const WORST_MS = 0.06;
const USUAL_MS = 0.01;
/** Histories are read by other threads: the event loop is free meanwhile, the processor is not. */
const READING_COUNTS = 0.25;
/** What is longer worked at counts however cheap its text is. */
const LONG_READING_MS = 50;
/** They copy and tidy up so many points in a millisecond. */
const POINTS_PER_MS = 2_000;
/** Loading what is long takes a millisecond for so many bytes, at worst. */
const LOADED_BYTES_PER_MS = 30_000;
/** Writing an answer down takes a millisecond for so many bytes. */
const BYTES_PER_MS = 70_000;
/** In pieces, which are put together then. */
const WRITTEN_TIMES = 2;
/** Reading a request and writing its answer takes so long, whatever it asks, refused or not. */
const REQUEST_MS = 0.3;
/** A mutation, at most, beside its price: it also waits for the database. Renaming a device takes half of it. */
const MUTATION_MS = 4;
/** What an error in an answer takes: it is told with its place, and its stack was taken down. */
const ERROR_MS = 0.2;
/** Sending one message takes so long, and a millisecond more for so many characters. */
const PUSH_MS = 0.002;
const PUSHED_PER_MS = 1_000_000;
/** From this price on an operation runs alone. */
const DEAR = 2000;
/** Maximum mutations per token that have begun and have no answer: clients that go away leave no more behind. */
const MAX_MUTATIONS = 200;
/** Below this price an event that is answered with its crowd counts so much, its part of what that takes, and its bytes. */
const CHEAP = 30;
const EVENT_MS = 0.02;
const EVENT_BYTES_PER_MS = 20_000;
/** An event also costs what made and sends it: without that others keep 0.67 of the event loop, not 0.7 … */
const PUSHED_COUNTS = 1.5;
/** … and a dear one what other threads and the database read for it: with it others keep 0.7 of their requests, not 0.6. */
const DEAR_EVENT = 500;
const DEAR_PUSHED_COUNTS = 5;
/** With the time-outs of the database, which come to about five seconds, everybody is answered within ten. */
const WAITED_FOR_NOTHING_MS = 4_000;

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
  readonly #mutations = new KeyedSemaphore({ atOnce: MAX_MUTATIONS, maxUnfinished: MAX_MUTATIONS });
  readonly #queries = new QueryCoalescing();
  readonly #memory = new LoadedMemory();
  /** What is long is not written in one turn of the event loop. */
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
        // Of a document that is known, too: the price of a long one takes 4 ms.
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
   * error, and so is OVERLOADED, or UNAVAILABLE when those before it got no answer from the database. Long data comes as
   * JSON, too.
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

  /** Opens what a subscription listens to. */
  subscribe(admitted: AdmittedOperation): Promise<LiveStream | ExecutionResult> {
    const args = { ...this.#args(admitted), contextValue: admitted.context };
    return createSourceEventStream(args) as Promise<LiveStream | ExecutionResult>;
  }

  /** What a subscription answers to an event, with a fresh context; equal ones of one token get one answer. */
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

  /** Answers that were there already also cost what sends them. */
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
    const cost = admit(this.schema, checked, operation, variables, context);
    this.documents.keep(checked, context.isAnonymous);
    const sharing =
      context.isAnonymous || operation.operation === OperationTypeNode.MUTATION
        ? ''
        : `${this.#answers.numberOf(context.access)} ${operationKey(checked, operation, request)}`;
    return { checked, operation, request, context, cost, bytes: memoryOf(variables), sharing };
  }

  #compiled({ checked, operation }: AdmittedOperation): Execute {
    const name = operation.name?.value;
    const before = checked.compiled.get(name);
    if (before !== undefined) return before;
    const compiled = compileOperation(this.schema, checked, operation);
    const run = this.#watch?.(compiled, execute, operation) ?? compiled;
    checked.compiled.set(name, run);
    return run;
  }

  async #inTurn(admitted: AdmittedOperation, running: Running): Promise<Executed> {
    const { context, root } = running;
    const isEvent = root !== undefined;
    const begun = (crowd?: { isOver: boolean }): Promise<Executed> =>
      runAs(context.caller, () => this.#run(admitted, running, crowd));
    const run = isEvent && admitted.cost < CHEAP ? () => this.#crowd.begin(context.caller).then(begun) : () => begun();
    const kind = { expensive: admitted.cost >= DEAR, patient: isEvent };
    // A mutation begins in its turn and keeps none: it may wait long for others than us, and must not be cut off.
    if (admitted.operation.operation === OperationTypeNode.MUTATION) {
      context.nextTurn = this.#turnsBetween(context.caller, kind);
      const turn = this.shares.begin(context.caller, kind);
      // Strangers sign in, for which they have a line of their own, and hold nothing.
      const use = context.isAnonymous ? run : () => this.#mutations.use(context.caller.tokenId, run);
      return turn.then(use).catch(failed);
    }
    return this.shares.run(context.caller, run, kind).catch(failed);
  }

  /** Between the mutations of an operation, fifty of which took others half of their recording. */
  #turnsBetween(caller: Caller, kind: { expensive: boolean }): () => Promise<void> {
    let from = performance.now();
    return async () => {
      this.shares.spend(caller, Math.min(performance.now() - from, MUTATION_MS));
      await this.shares.begin(caller, kind);
      from = performance.now();
    };
  }

  /** `crowd`: in which a cheap event is answered. */
  async #run(admitted: AdmittedOperation, { context, root }: Running, crowd?: { isOver: boolean }): Promise<Executed> {
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
      // Who has waited for its turn may be gone, and so may its right.
      budget.check();
      const renewing = context.renew();
      if (renewing instanceof Promise) await renewing;
      const running = this.#compiled(admitted)({ ...this.#args(admitted), rootValue: root, contextValue: context });
      // What is there at once is not waited for: others would have their turn meanwhile, on this caller's account.
      const all = running instanceof Promise ? await (isMutation ? running : withinTime(running, budget)) : running;
      const away = databaseFailure(all, budget);
      errors = all.errors?.length ?? 0;
      isAway = away !== null;
      // They would wait for their own time-outs one after the other.
      if (away !== null) this.shares.refuse(WAITED_FOR_NOTHING_MS, away);
      if (budget.ended !== null) throw away ?? budget.ended;
      const result = all.errors === undefined ? all : { ...all, errors: toldErrors(all.errors) };
      bytes = answerBytes(result.data, MAX_ANSWER_BYTES);
      if (bytes > MAX_ANSWER_BYTES) throw answerTooLarge();
      const isLarge = bytes > LARGE_BYTES;
      // Within its turn: so many are in memory at once as run.
      if (isLarge) await budget.room(WRITTEN_TIMES * bytes);
      const written = isLarge ? await this.#large.write({ data: result.data }, () => budget.check()) : null;
      // Nor is what comes out together.
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

/** How many times the time that an event's answer took is held against its caller. */
function pushedCounts(cost: number): number {
  return cost < DEAR_EVENT ? PUSHED_COUNTS : DEAR_PUSHED_COUNTS;
}
