import { parentPort, workerData } from 'node:worker_threads';
import { LatestMemory } from '../../chunks/latest-memory.ts';
import { planEdit } from '../../chunks/plan-edit.ts';
import { runReaderJob, transferables } from '../../chunks/reader-job.ts';
import { failure, type Question } from '../../thread-messages.ts';
import { IntakeView } from './intake-view.ts';
import { copyLog } from './copy-log.ts';
import { openForReading } from './open-for-reading.ts';
import type { SqliteReaderJob } from './reader-messages.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { SqliteSnapshot } from './sqlite-snapshot.ts';

/** A reader thread: a long read holds up neither the main thread nor the writer. */
const port = parentPort!;
const { path } = workerData as { path: string };
const db = openForReading(path);
const intake = new IntakeView(db);
const reader = new SqliteReader(db, intake);
const snapshot = new SqliteSnapshot(db, intake);
const memory = new LatestMemory();

type SnapshotJob = Exclude<SqliteReaderJob, { kind: 'copyLog' }>;

async function run(job: SnapshotJob): Promise<unknown> {
  switch (job.kind) {
    case 'plan':
      return planEdit(snapshot, job.deviceKey, job.edit);
    case 'due':
      return reader.due(job.query);
    case 'purges':
      return reader.purges(job.limit);
    case 'lastHeard':
      return reader.lastHeard(job.deviceKeys);
    case 'calls':
      return reader.calls(job.query);
    case 'countCalls':
      return reader.countCalls(job.filter);
    case 'call':
      return reader.call(job.productKey, job.id);
    case 'ping':
      return reader.ping();
    default:
      return runReaderJob(snapshot, job, memory);
  }
}

async function runInSnapshot(job: SnapshotJob): Promise<unknown> {
  db.exec('BEGIN');
  try {
    intake.refresh();
    return await run(job);
  } finally {
    db.exec('COMMIT');
  }
}

async function answer({ id, job }: Question<SqliteReaderJob>): Promise<void> {
  try {
    // A snapshot of its own would keep the log from being copied whole.
    const value = job.kind === 'copyLog' ? copyLog(path) : await runInSnapshot(job);
    port.postMessage({ id, value }, transferables(value));
  } catch (error) {
    port.postMessage({ id, failure: failure(error) });
  }
}

/** One job at a time: they share the connection and its transaction. */
let last = Promise.resolve();
port.on('message', (question: Question<SqliteReaderJob>) => {
  last = last.then(() => answer(question));
});
port.postMessage({ ready: true });
