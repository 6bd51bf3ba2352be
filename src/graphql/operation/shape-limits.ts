import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  parse,
  type SelectionSetNode,
} from 'graphql';
import { AppError } from '../../errors.ts';
import { textOf } from './document-text.ts';
import { FieldComparisons } from './field-comparisons.ts';

/** Maximum shape of a document (CONTRACT 7); `operation-cost.ts` weighs the rest. */
export const SHAPE_LIMITS = {
  /** Lexical tokens; also bounds the time of validation. */
  tokens: 5000,
  /** Blanks, line ends, commas and comments, in characters: beside few tokens they take a parser as long as many. */
  'ignored characters': 65_536,
  /** Levels of fields, fragments expanded, introspection counted like any other: GraphiQL's has 15. */
  depth: 15,
  'root fields': 50,
  aliases: 30,
  directives: 100,
  fragments: 100,
  /** Fields after expansion of all fragments. */
  fields: 3000,
  /** The same response name again and again in one selection set: validation compares each with each. */
  'repeated fields': 20,
  /** The same field with equal arguments in one object, under several names. */
  'equal fields': 3,
  /** The same through all of a document, with all fragments expanded: bounds the time of validation. */
  'field comparisons': 25_000,
} as const;

/** Maximum text whose errors tell their places: graphql-js counts the lines before each of them anew. */
const LOCATED = { characters: 16_384, lines: 500 };

/** Name of a limit, as `extensions.limit` has it. */
type LimitName = keyof typeof SHAPE_LIMITS | 'cost' | 'bytes' | 'seconds';

const TO_DO: Partial<Record<LimitName, string>> = {
  'equal fields': 'Ask for a field with the same arguments under at most 3 names in one object.',
  'field comparisons': 'Name each field once in what is selected of an object, fragments included, or use aliases.',
};

/** QUERY_TOO_COMPLEX, with the limit, the allowed number, and the actual one; null: that is not known exactly. */
export function tooComplex(limit: LimitName, allowed: number, actual: number | null): AppError {
  const how =
    actual === null
      ? `more than ${allowed}`
      : `${Number.isFinite(actual) ? actual : 'far too many'}, allowed ${allowed}`;
  return new AppError(
    'QUERY_TOO_COMPLEX',
    `The operation is over the limit of ${limit}: ${how}. ${TO_DO[limit] ?? 'Ask for less at once.'}`,
    {
      details: { limit, allowed, ...(actual !== null && Number.isFinite(actual) ? { actual } : {}) },
    },
  );
}

/** A document and its fragments by name. */
export interface ParsedDocument {
  document: DocumentNode;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/**
 * Parses a document and refuses one whose shape is too large, as far as that is known without the schema, so that
 * nothing later can be made slow by it. Throws AppError QUERY_TOO_COMPLEX, or graphql-js's syntax error.
 */
export function parseWithinLimits(query: string): ParsedDocument {
  const document = parseTokens(query);
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  check('fragments', fragments.size);
  const measure = new ShapeMeasure(fragments);
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION && definition.kind !== Kind.FRAGMENT_DEFINITION) continue;
    const shape = measure.of(definition.selectionSet);
    if (definition.kind === Kind.OPERATION_DEFINITION) check('root fields', shape['root fields']);
    check('depth', shape.depth);
    check('aliases', shape.aliases);
    check('directives', shape.directives + (definition.directives?.length ?? 0));
    check('fields', shape.fields);
  }
  checkComparisons(document, fragments);
  return { document, fragments };
}

function check(limit: LimitName & keyof typeof SHAPE_LIMITS, actual: number): void {
  if (actual > SHAPE_LIMITS[limit]) throw tooComplex(limit, SHAPE_LIMITS[limit], actual);
}

function checkComparisons({ definitions }: DocumentNode, fragments: Map<string, FragmentDefinitionNode>): void {
  const { depth, 'field comparisons': count, 'equal fields': equal } = SHAPE_LIMITS;
  const comparisons = new FieldComparisons(fragments, { count, depth, equal });
  for (const definition of definitions)
    if (definition.kind === Kind.OPERATION_DEFINITION) comparisons.add(definition.selectionSet);
  for (const fragment of fragments.values()) comparisons.addFragment(fragment);
  if (comparisons.count > count) throw tooComplex('field comparisons', count, null);
  if (comparisons.equal > equal) throw tooComplex('equal fields', equal, comparisons.equal);
}

function parseTokens(query: string): DocumentNode {
  const { ignored, lines } = textOf(query, SHAPE_LIMITS['ignored characters']);
  if (ignored > SHAPE_LIMITS['ignored characters'])
    throw tooComplex('ignored characters', SHAPE_LIMITS['ignored characters'], null);
  const noLocation = query.length > LOCATED.characters || lines > LOCATED.lines;
  // A token is at least one character; the lexer itself stops at the first token too many.
  try {
    return parse(query, { maxTokens: SHAPE_LIMITS.tokens, noLocation });
  } catch (error) {
    if (error instanceof RangeError) throw tooComplex('depth', SHAPE_LIMITS.depth, null);
    if (error instanceof GraphQLError && isTokenLimit(query, error))
      throw tooComplex('tokens', SHAPE_LIMITS.tokens, null);
    throw error;
  }
}

/** Whether the error is the token limit, which graphql-js throws as any other: then more tokens parse. */
function isTokenLimit(query: string, error: GraphQLError): boolean {
  try {
    parse(query, { maxTokens: SHAPE_LIMITS.tokens + 1 });
    return true;
  } catch (later) {
    return later instanceof GraphQLError && later.positions?.[0] !== error.positions?.[0];
  }
}

interface Shape {
  depth: number;
  'root fields': number;
  aliases: number;
  directives: number;
  fields: number;
}

/** Counts with all fragments expanded, each fragment only once: a fragment bomb costs no more than its text. */
class ShapeMeasure {
  readonly #fragments: Map<string, FragmentDefinitionNode>;
  readonly #known = new Map<string, Shape>();
  readonly #open = new Set<string>();

  constructor(fragments: Map<string, FragmentDefinitionNode>) {
    this.#fragments = fragments;
  }

  of(set: SelectionSetNode, repeats = new Map<string, number>()): Shape {
    const sum: Shape = { depth: 0, 'root fields': 0, aliases: 0, directives: 0, fields: 0 };
    for (const selection of set.selections) {
      sum.directives += selection.directives?.length ?? 0;
      if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value;
        repeats.set(name, (repeats.get(name) ?? 0) + 1);
        check('repeated fields', repeats.get(name) ?? 0);
        const inner = selection.selectionSet ? this.of(selection.selectionSet) : null;
        sum.aliases += (selection.alias ? 1 : 0) + (inner?.aliases ?? 0);
        sum.directives += inner?.directives ?? 0;
        sum.fields += 1 + (inner?.fields ?? 0);
        sum['root fields'] += 1;
        sum.depth = Math.max(sum.depth, 1 + (inner?.depth ?? 0));
        continue;
      }
      const inner =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? this.#ofFragment(selection.name.value)
          : this.of(selection.selectionSet, repeats);
      sum.depth = Math.max(sum.depth, inner.depth);
      for (const key of ['root fields', 'aliases', 'directives', 'fields'] as const) sum[key] += inner[key];
    }
    return sum;
  }

  #ofFragment(name: string): Shape {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const fragment = this.#fragments.get(name);
    // Validation refuses unknown and circular fragments.
    if (fragment === undefined || this.#open.has(name))
      return { depth: 0, 'root fields': 0, aliases: 0, directives: 0, fields: 0 };
    this.#open.add(name);
    const shape = this.of(fragment.selectionSet);
    this.#open.delete(name);
    this.#known.set(name, shape);
    return shape;
  }
}
