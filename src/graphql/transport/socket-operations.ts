import type { IncomingMessage } from 'node:http';
import { type ExecutionArgs, type ExecutionResult, GraphQLError, OperationTypeNode } from 'graphql';
import type { Context, SubscribePayload } from 'graphql-ws';
import type { Access } from '../../domain/access/access.ts';
import type { Authenticator } from '../../domain/accounts/authenticator.ts';
import { AppError, badInput } from '../../errors.ts';
import { EventLoopQueue } from '../../scheduling/event-loop-queue.ts';
import { LANES } from '../../scheduling/lanes.ts';
import { GraphqlContext, type LiveSources } from '../context/graphql-context.ts';
import type { LoaderSources } from '../context/loaders.ts';
import { type Promised, whenKnown } from '../context/promised.ts';
import { LiveStream } from '../live/live-stream.ts';
import { RefusedDocument } from '../operation/checked-documents.ts';
import type { EventAnswer } from '../operation/event-response-cache.ts';
import { withErrors } from '../operation/large-answers.ts';
import type { AdmittedOperation, Operations } from '../operation/operations.ts';
import { EventPush, nextMessage } from './event-push.ts';
import { createErrorFormatter, type GraphqlLog } from './format-error.ts';
import { KeptSubscriptions } from './kept-subscriptions.ts';
import { UnreadPayload } from './socket-messages.ts';
import type { SocketSession } from './socket-session.ts';
import { UntilIdle } from './until-idle.ts';

/** Dependencies of operations on sockets: how they run, and on what. */
export interface SocketOperationsDeps {
  operations: Operations;
  sources: LoaderSources;
  live: LiveSources;
  authenticator: Authenticator;
  log: GraphqlLog;
}

/** A connection, and the request that opened it. */
export interface SocketExtra {
  session: SocketSession;
  request: IncomingMessage;
  address: string;
}

const MAX_OPERATIONS = 100;
/** Maximum characters of an operation's id: it is kept as long as the operation runs. */
const MAX_ID = 1000;

/** The operations of all connections, as graphql-ws asks for them. */
export class SocketOperations {
  readonly #deps: SocketOperationsDeps;
  readonly #format;
  readonly #kept = new KeptSubscriptions();
  /** Turns in which all subscriptions send. */
  readonly #pushing = new EventLoopQueue(LANES.socketPushes);

  constructor(deps: SocketOperationsDeps) {
    this.#deps = deps;
    this.#format = createErrorFormatter(deps.log);
  }

  /** The errors to report, or the operation to run. */
  async admit(context: Context<Record<string, unknown>, SocketExtra>, id: string, payload: SubscribePayload) {
    const { session, address } = context.extra;
    const { authenticator, operations, sources, live } = this.#deps;
    try {
      if (session.ending || session.access === null)
        throw new AppError('UNAVAILABLE', 'This connection is being closed; connect again.');
      if (Object.keys(context.subscriptions).length > MAX_OPERATIONS)
        throw new AppError('OVERLOADED', `At most ${MAX_OPERATIONS} operations run on one connection.`);
      if (payload instanceof UnreadPayload) throw payload.reason;
      if (id.length > MAX_ID) throw badInput(`An operation's id has at most ${MAX_ID} characters.`);
      const present = (access: Access): Promised<Access | null> => authenticator.present(access);
      const asking = new GraphqlContext(session.access, address, sources, live, undefined, present);
      session.budgets.set(id, asking.budget);
      const admitted = await operations.admit(payload, asking);
      const kept = this.#keptBy(session, payload, admitted);
      if (kept === null) session.running.add(id);
      const { operationName = null } = payload;
      // Empties the payload, which graphql-ws keeps as long as the operation runs.
      Object.assign(payload, { query: '', operationName: null, variables: null });
      const args = { schema: operations.schema, document: admitted.checked.document };
      return { ...args, operationName, admitted, session, id, kept };
    } catch (error) {
      session.over(id, payload);
      if (error instanceof RefusedDocument) return error.errors;
      // Nothing that one operation meets with closes the connection of others.
      const originalError = error instanceof Error ? error : new Error(String(error));
      return [new GraphQLError(originalError.message, { originalError })];
    }
  }

  /** null: it is no subscription. */
  #keptBy(session: SocketSession, payload: SubscribePayload, admitted: AdmittedOperation): UntilIdle | null {
    if (admitted.operation.operation !== OperationTypeNode.SUBSCRIPTION) return null;
    if (session.socket.readyState !== session.socket.OPEN)
      throw new AppError('UNAVAILABLE', 'This connection is closed; connect again.');
    const kept = new UntilIdle(this.#kept.keep(session, admitted));
    session.keep(payload, () => kept.end());
    return kept;
  }

  /** Runs a query or mutation that was admitted. Never rejects. */
  execute(args: ExecutionArgs & Partial<Running>): Promise<ExecutionResult | AsyncIterable<never>> {
    return this.#run(running(args)).catch(failing);
  }

  /** Begins a subscription that was admitted. Never rejects. */
  subscribe(args: ExecutionArgs & Partial<Running>): Promise<EventPush | ExecutionResult | AsyncIterable<never>> {
    return this.#begin(running(args)).catch(failing);
  }

  /** Sends long data as it was written: graphql-ws sees results that never come, and their end. */
  async #run({ admitted, session, id }: Running): Promise<ExecutionResult | AsyncIterable<never>> {
    const { result, written } = await this.#deps.operations.execute(admitted);
    if (written === null) return result;
    const errors = this.formatted(result.errors ?? [], session);
    const payload = withErrors(written, errors.length === 0 ? undefined : errors);
    const next = async (): Promise<IteratorResult<never>> => {
      session.push(nextMessage(id, payload));
      await session.sent();
      return { done: true, value: undefined };
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  async #begin({ admitted, session, id, kept }: Running): Promise<EventPush | ExecutionResult> {
    const { operations } = this.#deps;
    if (kept === null) throw new Error('An operation that is no subscription.');
    const events = await kept.during(() => operations.subscribe(admitted));
    if (!(events instanceof LiveStream)) return events;
    if (session.budgets.get(id) === admitted.context.budget) session.listening.add(id);
    const payloadOf = ({ result, text, written }: EventAnswer): string | Buffer | null => {
      if (text !== null || result === null) return text;
      const errors = this.formatted(result.errors ?? [], session);
      return written ? withErrors(written, errors) : JSON.stringify({ ...result, errors });
    };
    return new EventPush({
      id,
      session,
      budget: admitted.context.budget,
      events,
      kept,
      turns: this.#pushing,
      payloadOf: (event) => whenKnown(operations.answer(admitted, event), payloadOf),
      onPushed: (messages, characters) => operations.pushed(admitted, messages, characters),
    });
  }

  /** The errors as clients see them. */
  formatted(errors: readonly GraphQLError[], { requestId }: SocketSession) {
    return errors.map((error) => this.#format(error.toJSON(), error, requestId));
  }
}

/** Arguments that graphql-ws hands from `onSubscribe` to `execute` and `subscribe` beside graphql-js's own. */
interface Running {
  admitted: AdmittedOperation;
  session: SocketSession;
  id: string;
  kept: UntilIdle | null;
}

function running({ admitted, session, id, kept = null }: Partial<Running>): Running {
  if (admitted === undefined || session === undefined || id === undefined)
    throw new Error('An operation that was not admitted.');
  return { admitted, session, id, kept };
}

/** Fails from the start: graphql-ws ends the one operation with that, but the connection with a thrown error. */
function failing(error: unknown): AsyncIterable<never> {
  const next = async (): Promise<never> => {
    throw error;
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}
