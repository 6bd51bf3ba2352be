import { EntityManager } from '@mikro-orm/sql';
import { vi } from 'vitest';
import type { Database } from '../../src/domain/ports/database.ts';

/** The steps by which SQLite answers the statements that the work sends, such as `SEARCH d USING INDEX … (product_key=?)`. */
export async function planSteps(database: Database, work: () => Promise<unknown>): Promise<string[]> {
  const sent = vi.spyOn(EntityManager.prototype, 'execute');
  await work();
  const statements = sent.mock.calls.map(([sql, values]) => [sql as string, values] as const);
  sent.mockRestore();
  const steps: string[] = [];
  for (const [sql, values] of statements) {
    const plan = await database.read().execute<{ detail: string }[]>(`explain query plan ${sql}`, values);
    steps.push(...plan.map(({ detail }) => detail));
  }
  return steps;
}
