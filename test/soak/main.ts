import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { createPostgresDatabase, endProcess, ready, startPostgres } from '../support/postgres.ts';
import { soak } from './soak.ts';

/** `npm run soak [minutes] [seed]`: rounds of half a minute on SQLite and on PostgreSQL with Redis, a line for each. */
const [minutes = '5', firstSeed = String(Date.now() % 100_000)] = process.argv.slice(2);
const SECONDS = 30;

const folder = mkdtempSync(join(tmpdir(), 'inlet-soak-'));
const postgres = await startPostgres({ durable: false });
const redisPort = await freePort();
const redis = spawn(
  'redis-server',
  ['--port', String(redisPort), '--bind', '127.0.0.1', '--save', '', '--dir', folder],
  {
    stdio: ['ignore', 'pipe', 'pipe'],
  },
);
try {
  await ready(redis, /Ready to accept connections/, 'Redis');
  const end = Date.now() + Number(minutes) * 60_000;
  for (let seed = Number(firstSeed); Date.now() < end; seed += 1) {
    const isSqlite = seed % 2 === 0;
    const database = isSqlite ? null : await createPostgresDatabase(postgres.url);
    const databaseUrl = database?.url ?? `sqlite:${join(folder, `${seed}.db`)}`;
    const redisUrl = isSqlite ? null : `redis://127.0.0.1:${redisPort}`;
    const outcome = await soak({ seed, seconds: SECONDS, databaseUrl, redisUrl });
    console.log(JSON.stringify({ seed, database: isSqlite ? 'sqlite' : 'postgres', ...outcome }));
    await database?.drop();
  }
} finally {
  await endProcess(redis, 'SIGTERM');
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
