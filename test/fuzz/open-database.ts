import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPostgresDatabase, startPostgres } from '../support/postgres.ts';

/** A new database for a run, which ends with it. */
export async function openDatabase(
  database: 'sqlite' | 'postgres',
): Promise<{ url: string; close: () => Promise<void> }> {
  if (database === 'postgres') {
    const postgres = await startPostgres({ durable: false });
    return { url: (await createPostgresDatabase(postgres.url)).url, close: () => postgres.stop() };
  }
  const folder = mkdtempSync(join(tmpdir(), 'inlet-fuzz-'));
  return {
    url: `sqlite:${join(folder, 'inlet.db')}`,
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}
