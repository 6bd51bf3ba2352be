import { GraphQLError } from 'graphql';
import { parseWithinLimits } from './shape-limits.ts';

const MAX_KEPT = 200;
const MAX_TEXT = 20_000;

/**
 * Shapes are checked before Apollo Server parses and validates; texts that passed are remembered, so that a dashboard's
 * query is parsed twice only once.
 */
export class CheckedQueries {
  readonly #passed = new Set<string>();

  /** Throws AppError QUERY_TOO_COMPLEX. A syntax error is left for Apollo Server to report. */
  check(query: unknown): void {
    if (typeof query !== 'string' || this.#passed.has(query)) return;
    try {
      parseWithinLimits(query);
    } catch (error) {
      if (error instanceof GraphQLError) return;
      throw error;
    }
    if (query.length > MAX_TEXT) return;
    const oldest = this.#passed.size >= MAX_KEPT ? this.#passed.values().next().value : undefined;
    if (oldest !== undefined) this.#passed.delete(oldest);
    this.#passed.add(query);
  }
}
