import { hash } from 'node:crypto';
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  SingleFieldSubscriptionsRule,
  specifiedRules,
  validate,
} from 'graphql';
import { lruCache } from '../../scheduling/lru-cache.ts';
import { toldErrors } from '../context/answer-limits.ts';
import { type DocumentRoom, type Execute, takeRoom } from './compiled-operation.ts';
import { type OperationProfile, profileOf } from './operation-profile.ts';
import { type ParsedDocument, parseWithinLimits } from './shape-limits.ts';

/** Maximum estimated bytes of kept documents; of those asked for without a token, less. */
const MAX_KEPT_BYTES = 32 * 1_048_576;
const MAX_ANONYMOUS_BYTES = 1_048_576;
/** Estimated bytes per token of a parsed document … */
const BYTES_PER_TOKEN = 500;
/** … and a field of a plan or profile. A document weighs from the start what these may come to: its books need not follow. */
const BYTES_PER_FIELD = 350;
const FIELDS_PER_TOKEN = 3;

/** A document that was parsed, is within the limits of its shape, and is valid. */
export interface CheckedDocument {
  query: string;
  /** SHA-256 of the text in hexadecimal. */
  hash: string;
  document: DocumentNode;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  /** Profiles of operations, made when they are asked for. */
  profiles: Map<OperationDefinitionNode, OperationProfile>;
  /** Compiled operations by name. */
  compiled: Map<string | undefined, Execute>;
  /** Room for the profiles and plans of all its operations. */
  room: DocumentRoom;
  /** Estimated bytes in memory, its room included. */
  bytes: number;
}

/** A document that cannot be run: graphql-js's errors, each with its code. */
export class RefusedDocument extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[], code: string) {
    super(errors[0]?.message);
    this.name = 'RefusedDocument';
    this.errors = toldErrors(errors);
    // Made anew, each would look for its place again.
    for (const { extensions } of errors) extensions['code'] = code;
  }
}

/**
 * Checks documents, and keeps those that were admitted for the next time: bounded in bytes, the least recently used
 * goes first. Documents asked for without a token have a small part of their own, so that nobody from outside can empty
 * the other.
 */
export class CheckedDocuments {
  readonly #schema: GraphQLSchema;
  readonly #kept = lruCache<string, CheckedDocument>(MAX_KEPT_BYTES, ({ bytes }) => bytes);
  readonly #anonymous = lruCache<string, CheckedDocument>(MAX_ANONYMOUS_BYTES, ({ bytes }) => bytes);

  constructor(schema: GraphQLSchema) {
    this.#schema = schema;
  }

  /** Number of documents in memory. */
  get size(): number {
    return this.#kept.size + this.#anonymous.size;
  }

  /** The document, if it was admitted before. */
  kept(query: string): CheckedDocument | undefined {
    const name = hash('sha256', query);
    return this.#kept.get(name) ?? this.#anonymous.get(name);
  }

  /** Throws AppError QUERY_TOO_COMPLEX, or RefusedDocument with syntax errors or what validation found. */
  check(query: string): CheckedDocument {
    const { document, fragments } = parsed(query);
    const mistakes = this.#mistakes(document);
    if (mistakes.length > 0) throw new RefusedDocument(mistakes, 'GRAPHQL_VALIDATION_FAILED');
    const tokens = tokensOf(document);
    return {
      query,
      hash: hash('sha256', query),
      document,
      fragments,
      profiles: new Map(),
      compiled: new Map(),
      room: { fields: tokens * FIELDS_PER_TOKEN },
      bytes: query.length * 2 + tokens * (BYTES_PER_TOKEN + FIELDS_PER_TOKEN * BYTES_PER_FIELD),
    };
  }

  #mistakes(document: DocumentNode): readonly GraphQLError[] {
    const options = { maxErrors: 20 };
    try {
      return validate(this.#schema, document, specifiedRules, options);
    } catch (error) {
      // This rule knows no variables, and throws where one decides which field is left; admission looks again.
      if (!(error instanceof GraphQLError)) throw error;
      const others = specifiedRules.filter((rule) => rule !== SingleFieldSubscriptionsRule);
      return validate(this.#schema, document, others, options);
    }
  }

  /** Keeps a document each time it is admitted. */
  keep(document: CheckedDocument, anonymous: boolean): void {
    if (this.#kept.get(document.hash) === undefined)
      (anonymous ? this.#anonymous : this.#kept).set(document.hash, document);
  }

  /** The profile of an operation of the document. */
  profileOf({ fragments, profiles, room }: CheckedDocument, operation: OperationDefinitionNode): OperationProfile {
    const before = profiles.get(operation);
    if (before !== undefined) return before;
    const profile = profileOf({ schema: this.#schema, fragments, operation });
    if (takeRoom(room, profile.fields)) profiles.set(operation, profile);
    return profile;
  }
}

/** Counts comments too: where nodes know their places they hold all tokens, and those are not in `tokenCount`. */
function tokensOf({ loc, tokenCount = 0 }: DocumentNode): number {
  let tokens = 0;
  for (let token = loc?.startToken ?? null; token !== null; token = token.next) tokens += 1;
  return Math.max(tokens, tokenCount);
}

function parsed(query: string): ParsedDocument {
  try {
    return parseWithinLimits(query);
  } catch (error) {
    if (error instanceof GraphQLError) throw new RefusedDocument([error], 'GRAPHQL_PARSE_FAILED');
    throw error;
  }
}
