/** One page of a list. */
export interface Page<T> {
  items: T[];
  hasNextPage: boolean;
}

/** Of rows that were read with a limit of one more than the page holds, to know whether there is another page. */
export function pageOf<T>(rows: T[], limit: number): Page<T> {
  return { items: rows.slice(0, limit), hasNextPage: rows.length > limit };
}
