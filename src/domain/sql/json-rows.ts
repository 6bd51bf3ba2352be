import type { Dialect } from '../ports/database.ts';

/** What a statement selects from to have its one JSON parameter, a list, as rows whose column is `value`. */
export function rowsOf(dialect: Dialect): string {
  return dialect === 'sqlite' ? 'json_each(?)' : 'json_array_elements(?::json) as rows (value)';
}

/** GraphQL's Int, and PostgreSQL's, have no more. */
const MOST = 2_147_483_647;

/** What an `on conflict` of the table gives a count: what was there and what comes, as far as there are such numbers. */
export function addedUp(table: string, column: string): string {
  const sum = `${table}.${column} + excluded.${column}`;
  return `case when ${table}.${column} > ${MOST} - excluded.${column} then ${MOST} else ${sum} end`;
}
