import type { Dialect } from '../ports/database.ts';

/** The `from` item that turns one JSON parameter, a list, into rows with the column `value`. */
export function rowsOf(dialect: Dialect): string {
  return dialect === 'sqlite' ? 'json_each(?)' : 'json_array_elements(?::json) as rows (value)';
}

/** The largest Int of GraphQL and PostgreSQL. */
const MOST = 2_147_483_647;

/** SQL for `on conflict`: the existing count plus the new one, capped at the largest Int. */
export function addedUp(table: string, column: string): string {
  const sum = `${table}.${column} + excluded.${column}`;
  return `case when ${table}.${column} > ${MOST} - excluded.${column} then ${MOST} else ${sum} end`;
}
