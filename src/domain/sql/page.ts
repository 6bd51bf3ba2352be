/** One page of a list. */
export interface Page<T> {
  items: T[];
  hasNextPage: boolean;
}

/** A page of rows that were read with a limit of one more than it holds, which tells whether another page follows. */
export function pageOf<T>(rows: T[], limit: number): Page<T> {
  return { items: rows.slice(0, limit), hasNextPage: rows.length > limit };
}
