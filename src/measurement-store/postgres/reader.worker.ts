import { parentPort, workerData } from 'node:worker_threads';
import { AppError } from '../../errors.ts';
import { LatestMemory } from '../chunks/latest-memory.ts';
import { transferables } from '../chunks/reader-job.ts';
import { failure, type Question } from '../thread-messages.ts';
import { openPool } from './postgres-connection.ts';
import { runPostgresJob } from './postgres-work.ts';
import type { PostgresReaderJob } from './reader-messages.ts';

const CONNECTIONS = 4;

/** A reader thread: fetches, decodes and evaluates what would hold up the event loop, and moves readings into chunks. */
const port = parentPort!;
const pool = openPool((workerData as { url: string }).url, CONNECTIONS, undefined, true);
const memory = new LatestMemory();
// The next connection may be to a restored database, or to a replica that did not have all commits.
pool.on('connect', (client) => client.on('error', () => memory.clear()));
pool.on('release', (broken: Error | boolean | undefined) => {
  if (broken) memory.clear();
});

async function answer({ id, job }: Question<PostgresReaderJob>): Promise<void> {
  try {
    const value = await runPostgresJob(pool, job, memory);
    port.postMessage({ id, value }, transferables(value));
  } catch (error) {
    if (!(error instanceof AppError)) memory.clear();
    port.postMessage({ id, failure: failure(error) });
  }
}

port.on('message', (question: Question<PostgresReaderJob>) => void answer(question));
port.postMessage({ ready: true });
