import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPostgresDatabase, startPostgres } from '../support/postgres.ts';

/** Where a bench runs. `newUrl`: of a database that is empty; `folder` goes afterwards. */
interface BenchDatabase {
  database: string;
  newUrl: () => Promise<string>;
  folder: string;
}

/** Runs a bench on SQLite, then on PostgreSQL as durable as in production; or on `only` one of them. */
export async function eachDatabase(
  only: string | undefined,
  bench: (place: BenchDatabase) => Promise<void>,
): Promise<void> {
  const postgres = only === 'sqlite' ? null : await startPostgres({ durable: true });
  try {
    for (const database of ['sqlite', 'postgres'].filter((name) => only === undefined || name === only)) {
      const folder = mkdtempSync(join(tmpdir(), 'inlet-bench-'));
      let count = 0;
      const newUrl = async (): Promise<string> =>
        postgres !== null && database === 'postgres'
          ? (await createPostgresDatabase(postgres.url)).url
          : `sqlite:${join(folder, `bench-${(count += 1)}.db`)}`;
      await bench({ database, newUrl, folder });
      rmSync(folder, { recursive: true, force: true });
    }
  } finally {
    await postgres?.stop();
  }
}
