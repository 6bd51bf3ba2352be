import type { Dialect } from '../ports/database.ts';

/**
 * SQL for "the column holds this text", with one parameter: case-sensitive on both databases, unlike LIKE, and without
 * wildcards.
 */
export function containsSql(dialect: Dialect, column: string): string {
  return `${dialect === 'sqlite' ? 'instr' : 'strpos'}(${column}, ?) > 0`;
}
