import { parentPort, workerData } from 'node:worker_threads';
import type { ReaderJob } from './reader-messages.ts';
import { openForReading } from './sqlite-connection.ts';
import { SqliteReader } from './sqlite-reader.ts';
import { failure, type Question } from './thread-messages.ts';

/** The reader thread: a long read holds up neither the main thread nor the writer. */
const port = parentPort!;
const reader = new SqliteReader(openForReading((workerData as { path: string }).path));

function run(job: ReaderJob): unknown {
  switch (job.kind) {
    case 'latest':
      return reader.latest(job.deviceKey, job.fieldKeys);
    case 'range':
      return reader.range(job.query);
    case 'lastHeard':
      return reader.lastHeard(job.deviceKeys);
    case 'count':
      return reader.count(job.query);
    case 'calls':
      return reader.calls(job.query);
    case 'countCalls':
      return reader.countCalls(job.filter);
    case 'call':
      return reader.call(job.productKey, job.id);
    case 'ping':
      return reader.ping();
  }
}

/** The memory of typed arrays changes hands instead of being copied. */
function transferable(value: unknown): ArrayBuffer[] {
  if (typeof value !== 'object' || value === null) return [];
  const columns = Object.values(value).filter((column) => column instanceof Float64Array);
  return columns.map((column) => column.buffer as ArrayBuffer);
}

port.on('message', ({ id, job }: Question<ReaderJob>) => {
  try {
    const value = run(job);
    port.postMessage({ id, value }, job.kind === 'range' ? transferable(value) : []);
  } catch (error) {
    port.postMessage({ id, failure: failure(error) });
  }
});
port.postMessage({ ready: true });
