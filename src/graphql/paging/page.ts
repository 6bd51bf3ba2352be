import type { Page } from '../../domain/sql/page.ts';
import { badInput } from '../../errors.ts';
import { type CursorKey, decodeCursor, encodeCursor } from './cursor.ts';
import type { Connection } from '../types/connection.ts';

/** Maximum items per page. */
export const MAX_FIRST = 500;
/** Items per page without `first`. */
export const DEFAULT_FIRST = 50;

/** The arguments of every list, as the schema describes them. */
export const FIRST = {
  nullable: true,
  description: `How many items at most: 1 to ${MAX_FIRST}; left out: ${DEFAULT_FIRST}.`,
} as const;
/** The argument `after` of every list, as the schema describes it. */
export const AFTER = {
  nullable: true,
  description: 'The cursor behind which the page begins: endCursor of the page before; left out: the first page.',
} as const;

/** `first` of a list: 50 by default, at most 500 (CONTRACT 7). Never clamped: a wrong one is BAD_USER_INPUT. */
export function readFirst(first: number | null | undefined): number {
  if (first === null || first === undefined) return DEFAULT_FIRST;
  if (!Number.isInteger(first) || first < 1 || first > MAX_FIRST)
    throw badInput(`"first" must be from 1 to ${MAX_FIRST}, not ${first}.`);
  return first;
}

/** One list's way of paging: its cursor's kind and the sort key of a row. */
export interface Paging<Row> {
  kind: string;
  shape: readonly ('string' | 'number')[];
  keyOf: (row: Row) => CursorKey;
}

/** The key after which to go on; null: from the start. */
export function readAfter<Row>(paging: Paging<Row>, after: string | null | undefined): CursorKey | null {
  return after === null || after === undefined ? null : decodeCursor(paging.kind, after, paging.shape);
}

/** The rows of one page as a connection; `count` is called only for `totalCount`. */
export function connectionWith<Row, Node = Row>(
  paging: Paging<Row>,
  { items, hasNextPage }: Page<Row>,
  nodeOf: (row: Row) => Node,
  count: () => Promise<number>,
): Connection<Node> {
  const edges = items.map((row) => new PageEdge(paging, row, nodeOf(row)));
  const last = edges.at(-1);
  const pageInfo = {
    hasNextPage,
    get endCursor() {
      return last?.cursor ?? null;
    },
  };
  return { edges, pageInfo, count };
}

/** An item of a page; its cursor is made when it is selected. */
class PageEdge<Row, Node> {
  readonly node: Node;
  readonly #paging: Paging<Row>;
  readonly #row: Row;

  constructor(paging: Paging<Row>, row: Row, node: Node) {
    this.node = node;
    this.#paging = paging;
    this.#row = row;
  }

  get cursor(): string {
    return encodeCursor(this.#paging.kind, this.#paging.keyOf(this.#row));
  }
}
