import {
  createSourceEventStream,
  execute,
  type ExecutionResult,
  getOperationAST,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { GraphqlContext } from '../context/graphql-context.ts';
import { admit } from './admission.ts';
import { type CheckedDocument, CheckedDocuments } from './checked-documents.ts';
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
}

/** The one way of an operation, over HTTP and WebSocket alike: parse, limits, validation, price, access, execution. */
export class Operations {
  readonly schema: GraphQLSchema;
  readonly documents: CheckedDocuments;

  constructor(schema: GraphQLSchema) {
    this.schema = schema;
    this.documents = new CheckedDocuments(schema);
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
    this.documents.keep(checked, context.isAnonymous);
    return { checked, operation, request, context, cost };
  }

  /** Runs a query or mutation; or, with the event as `root`, answers one event of a subscription. */
  async execute(admitted: AdmittedOperation, root?: unknown, context = admitted.context): Promise<ExecutionResult> {
    return execute({ ...this.#args(admitted), rootValue: root, contextValue: context });
  }

  /** Opens what a subscription listens to. */
  subscribe(admitted: AdmittedOperation): Promise<AsyncIterable<unknown> | ExecutionResult> {
    return createSourceEventStream({ ...this.#args(admitted), contextValue: admitted.context });
  }

  #args({ checked, request }: AdmittedOperation) {
    return {
      schema: this.schema,
      document: checked.document,
      operationName: request.operationName ?? null,
      variableValues: request.variables ?? null,
    };
  }
}
