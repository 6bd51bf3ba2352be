import type { EntityManager } from '@mikro-orm/sql';
import type { Database, Dialect } from '../ports/database.ts';
import { bytesSql, jsonText, placeholders } from '../sql/long-columns.ts';

/** Maximum bytes of an example's request, and of its expected entries, as JSON. */
export const MAX_EXAMPLE_PART = 262_144;

/**
 * Maximum bytes of all examples of a product: a clone copies them in one transaction, which on SQLite blocks the event
 * loop at its end.
 */
export const MAX_EXAMPLES_BYTES = 8 * 1_048_576;

/** The long parts of an example, as JSON text. */
export interface ExampleTexts {
  request: string;
  expected: string;
}

/** Approximate bytes of each of the examples, by their ids. */
export async function exampleSizes(database: Database, ids: readonly string[]): Promise<number[]> {
  const [request, expected] = ['request', 'expected'].map(
    (column) => `coalesce(${bytesSql(database.dialect, column)}, ${MAX_EXAMPLE_PART})`,
  );
  const rows = await database
    .read()
    .execute<{ id: string; bytes: number }[]>(
      `select id, ${request} + ${expected} as bytes from decoder_example where id in (${placeholders(ids)})`,
      [...ids],
    );
  const byId = new Map(rows.map((row) => [row.id, row.bytes]));
  return ids.map((id) => byId.get(id) ?? 0);
}

/** The ids of all examples of a product in their order, with the bytes of each. */
export async function examplesOf(
  em: EntityManager,
  dialect: Dialect,
  productKey: number,
): Promise<{ id: string; bytes: number }[]> {
  const [request, expected] = ['request', 'expected'].map(
    // Measure compressed values by reading them.
    (column) => `coalesce(${bytesSql(dialect, column)}, octet_length(cast(${column} as text)))`,
  );
  const rows = await em.execute<{ id: string; bytes: number | string }[]>(
    `select id, ${request} + ${expected} as bytes from decoder_example where product_key = ? order by created_at, id`,
    [productKey],
  );
  return rows.map(({ id, bytes }) => ({ id, bytes: Number(bytes) }));
}

/** Id of an example → its long parts. */
export async function readExamples(database: Database, ids: readonly string[]): Promise<Map<string, ExampleTexts>> {
  // SQLite keeps JSON as text; cast it on PostgreSQL, whose driver would parse it.
  const text = (column: string): string => (database.dialect === 'sqlite' ? column : `${column}::text as ${column}`);
  const rows = await database
    .read()
    .execute<({ id: string } & Record<keyof ExampleTexts, unknown>)[]>(
      `select id, ${text('request')}, ${text('expected')} from decoder_example where id in (${placeholders(ids)})`,
      [...ids],
    );
  return new Map(
    rows.map(({ id, request, expected }) => [id, { request: jsonText(request), expected: jsonText(expected) }]),
  );
}
