import { expect, inject, test } from 'vitest';
import { createDatabase } from '../support/server.ts';
import { soak } from './soak.ts';

const redisUrl = inject('redisUrl');
/** Longer, or another one: SOAK_SECONDS, SOAK_SEED. */
const seconds = Number(process.env['SOAK_SECONDS'] ?? 4);
const seed = Number(process.env['SOAK_SEED'] ?? 1);

const CASES = { 'one node on SQLite': 'sqlite', 'two nodes on PostgreSQL and Redis': 'postgres' } as const;

for (const [name, kind] of Object.entries(CASES))
  test.skipIf(kind === 'postgres' && redisUrl === null)(
    `nothing is missing, out of order or sent twice to who goes on with "after" while servers and connections end: ${name}`,
    async () => {
      const database = await createDatabase(kind);
      const options = { seed, seconds, databaseUrl: database.url, redisUrl: kind === 'postgres' ? redisUrl : null };
      const outcome = await soak(options);
      expect(outcome.moments).toBeGreaterThan(50);
      expect(outcome.restarts).toBeGreaterThan(0);
      expect(outcome.drops).toBeGreaterThan(0);
      expect(outcome.resumed).toBeGreaterThan(outcome.restarts);
      await database.drop();
    },
    seconds * 1000 + 600_000,
  );
