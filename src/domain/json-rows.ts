import type { Dialect } from './database.ts';

/** What a statement selects from to have its one JSON parameter, a list, as rows whose column is `value`. */
export function rowsOf(dialect: Dialect): string {
  return dialect === 'sqlite' ? 'json_each(?)' : 'json_array_elements(?::json) as rows (value)';
}
