import type { EntityManager } from '@mikro-orm/sql';
import type { Dialect } from '../ports/database.ts';
import { TransactionSlices } from '../../scheduling/yield-to-event-loop.ts';
import { rowsOf } from './json-rows.ts';

/** Rows per statement, for a few milliseconds of the event loop. */
const AT_ONCE = 200;

/** Names of columns with their types on PostgreSQL; a `jsonb` one is given as JSON text. */
export type Columns = Readonly<
  Record<string, 'text' | 'integer' | 'bigint' | 'double precision' | 'boolean' | 'jsonb'>
>;

/** Inserts rows, many by one statement; values in the order of the columns. */
export async function insertRows(
  em: EntityManager,
  dialect: Dialect,
  { table, columns, rows }: { table: string; columns: Columns; rows: readonly (readonly unknown[])[] },
): Promise<void> {
  const values = Object.values(columns).map((type, at) => valueAt(dialect, at, type));
  const statement = `insert into ${table} (${Object.keys(columns).join(', ')}) select ${values.join(', ')} from ${rowsOf(dialect)}`;
  await inSlices(em, statement, rows);
}

/** Updates the rows with these keys (the first value of each), many by one statement. */
export async function updateRows(
  em: EntityManager,
  dialect: Dialect,
  { table, columns, rows }: { table: string; columns: Columns; rows: readonly (readonly unknown[])[] },
): Promise<void> {
  const values = Object.entries(columns).map(([name, type], at) => `${name} = ${valueAt(dialect, at + 1, type)}`);
  const statement =
    `update ${table} set ${values.join(', ')} from ${rowsOf(dialect)} ` +
    `where ${table}."key" = ${valueAt(dialect, 0, 'integer')}`;
  await inSlices(em, statement, rows);
}

async function inSlices(em: EntityManager, statement: string, rows: readonly (readonly unknown[])[]): Promise<void> {
  const slices = new TransactionSlices();
  for (let at = 0; at < rows.length; at += AT_ONCE) {
    await em.execute(statement, [JSON.stringify(rows.slice(at, at + AT_ONCE))], 'run');
    await slices.next();
  }
}

function valueAt(dialect: Dialect, at: number, type: string): string {
  return dialect === 'sqlite' ? `value->>${at}` : `(value->>${at})::${type}`;
}
