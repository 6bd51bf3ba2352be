import type { Dialect } from '../ports/database.ts';

/**
 * SQL for "the column holds this text", with one parameter; exact in case on both databases, which LIKE is not, and
 * nothing in the text is a wildcard.
 */
export function containsSql(dialect: Dialect, column: string): string {
  return `${dialect === 'sqlite' ? 'instr' : 'strpos'}(${column}, ?) > 0`;
}
