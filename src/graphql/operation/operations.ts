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
import type { GraphqlContext } from '../context/graphql-context.ts';
import { admit } from './admission.ts';
import { type CheckedDocument, CheckedDocuments } from './checked-documents.ts';
import { comparing, compileOperation, type Execute } from './compiled-operation.ts';
import { RefusedDocument } from './refused-document.ts';

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
  execute: Execute;
}

/** Which operations are compiled: those that were seen before; for tests none, or all, with the answers compared. */
export type Compiling = 'seen' | 'none' | 'compare';

/** The one way of an operation, over HTTP and WebSocket alike: parse, limits, validation, price, access, execution. */
export class Operations {
  readonly schema: GraphQLSchema;
  readonly documents: CheckedDocuments;

  readonly #compiling: Compiling;

  constructor(schema: GraphQLSchema, compiling: Compiling) {
    this.schema = schema;
    this.documents = new CheckedDocuments(schema);
    this.#compiling = compiling;
  }

  /** Throws RefusedDocument, or AppError QUERY_TOO_COMPLEX or UNAUTHENTICATED. */
  admit(request: OperationRequest, context: GraphqlContext): AdmittedOperation {
    const checked = this.documents.check(request.query);
    const operation = getOperationAST(checked.document, request.operationName);
    if (!operation)
      throw new RefusedDocument(
        [new GraphQLError('Say by operationName which operation of the document is to run.')],
        'OPERATION_RESOLUTION_FAILURE',
      );
    const cost = admit(this.schema, checked, operation, request.variables ?? {}, context);
    const run = this.#compiled(checked, operation, context) ?? execute;
    this.documents.keep(checked, context.isAnonymous);
    return { checked, operation, request, context, cost, execute: run };
  }

  /** Runs a query or mutation; or, with the event as `root`, answers one event of a subscription. */
  async execute(admitted: AdmittedOperation, root?: unknown, context = admitted.context): Promise<ExecutionResult> {
    return admitted.execute({ ...this.#args(admitted), rootValue: root, contextValue: context });
  }

  /** Opens what a subscription listens to. */
  subscribe(admitted: AdmittedOperation): Promise<AsyncIterable<unknown> | ExecutionResult> {
    return createSourceEventStream({ ...this.#args(admitted), contextValue: admitted.context });
  }

  /** Compiling takes longer than most operations: it is for those that come again, and never for strangers. */
  #compiled(checked: CheckedDocument, operation: OperationDefinitionNode, context: GraphqlContext): Execute | null {
    if (this.#compiling === 'none' || context.isAnonymous || operation.operation === OperationTypeNode.MUTATION)
      return null;
    const name = operation.name?.value;
    const before = checked.compiled.get(name);
    if (before !== undefined) return before;
    const isSeen = this.documents.byHash(checked.hash) !== undefined;
    if (!isSeen && this.#compiling === 'seen') return null;
    const compiled = compileOperation(this.schema, { document: checked.document, operationName: name });
    const run = compiled === null || this.#compiling === 'seen' ? compiled : comparing(compiled);
    checked.compiled.set(name, run);
    return run;
  }

  #args({ checked, request }: AdmittedOperation): ExecutionArgs {
    return {
      schema: this.schema,
      document: checked.document,
      operationName: request.operationName ?? null,
      variableValues: request.variables ?? null,
    };
  }
}
