import { parentPort, workerData } from 'node:worker_threads';
import { LatestMemory } from '../../chunks/latest-memory.ts';
import { planEdit } from '../../chunks/plan-edit.ts';
import { planWithdrawal, type Withdrawal } from '../../chunks/plan-withdrawal.ts';
import { runReaderJob, transferables } from '../../chunks/reader-job.ts';
import { failure, type Question } from '../../thread-messages.ts';
import { copyLog } from './copy-log.ts';
import { type Lane, Lanes } from './lanes.ts';
import type { SqliteReaderJob } from './reader-messages.ts';
import { must } from '../../../must.ts';

/** A reader thread: a long read holds up neither the main thread nor the writer. */
const port = must(parentPort);
const { path } = workerData as { path: string };
const lanes = new Lanes(path);
const memory = new LatestMemory();

type SnapshotJob = Exclude<SqliteReaderJob, { kind: 'copyLog' }>;

async function run({ reader, snapshot }: Lane, job: SnapshotJob): Promise<unknown> {
  switch (job.kind) {
    case 'plan':
      return planEdit(snapshot, job.deviceKey, job.edit);
    case 'withdraw': {
      const planned: Withdrawal[] = [];
      for (const removal of job.removals) planned.push(await planWithdrawal(snapshot, removal));
      return planned;
    }
    case 'others':
      return reader.others(job.keys);
    case 'due':
      return reader.due(job.query);
    case 'purges':
      return reader.purges(job.handsOver, job.after, job.limit);
    case 'lastPurge':
      return reader.lastPurge();
    case 'lastHeard':
      return reader.lastHeard(job.deviceKeys);
    case 'calls':
      return reader.calls(job.query);
    case 'countCalls':
      return reader.countCalls(job.query);
    case 'call':
      return reader.call(job.productKey, job.id);
    case 'ping':
      return reader.ping();
    default:
      return runReaderJob(snapshot, job, memory);
  }
}

async function answer({ id, job }: Question<SqliteReaderJob>): Promise<void> {
  try {
    // A snapshot of its own would keep the log from being copied whole.
    const value = job.kind === 'copyLog' ? copyLog(path) : await lanes.run((lane) => run(lane, job));
    port.postMessage({ id, value }, transferables(value));
  } catch (error) {
    port.postMessage({ id, failure: failure(error) });
  }
}

port.on('message', (question: Question<SqliteReaderJob>) => void answer(question));
port.postMessage({ ready: true });
