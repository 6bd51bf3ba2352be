import { parentPort, workerData } from 'node:worker_threads';
import { AppError } from '../../errors.ts';
import { LatestMemory } from '../chunks/latest-memory.ts';
import { transferables } from '../chunks/reader-job.ts';
import { Lane } from '../../scheduling/lane.ts';
import { LANES } from '../../scheduling/lanes.ts';
import { failure, type Question } from '../thread-messages.ts';
import { openPool } from './postgres-connection.ts';
import { runPostgresJob } from './postgres-work.ts';
import type { PostgresReaderQuestion } from './reader-messages.ts';
import { must } from '../../must.ts';

/** Maximum connections per thread: opened on demand, and closed when idle. */
const CONNECTIONS = LANES.postgresReads.atOnce;

/** A reader thread: fetches, decodes and evaluates off the event loop, and moves readings into chunks. */
const port = must(parentPort);
const pool = openPool((workerData as { url: string }).url, CONNECTIONS, undefined, true);
/**
 * Queues jobs for a connection: a long wait for one in the pool would be taken for a database that is away. Of each
 * thread one is left to other tenants.
 */
const jobs = new Lane(LANES.postgresReads);
const memory = new LatestMemory();
// The next connection may be to a restored database, or to a replica that did not have all commits.
pool.on('connect', (client) => client.on('error', () => memory.clear()));
pool.on('release', (broken: Error | boolean | undefined) => {
  if (broken) memory.clear();
});

async function answer({ id, job: { job, party, replica } }: Question<PostgresReaderQuestion>): Promise<void> {
  try {
    const value = await jobs.use(party, () => runPostgresJob(pool, job, memory, replica));
    port.postMessage({ id, value }, transferables(value));
  } catch (error) {
    if (!(error instanceof AppError)) memory.clear();
    port.postMessage({ id, failure: failure(error) });
  }
}

port.on('message', (question: Question<PostgresReaderQuestion>) => void answer(question));
port.postMessage({ ready: true });
