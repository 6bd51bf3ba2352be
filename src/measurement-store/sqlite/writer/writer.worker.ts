import { parentPort, workerData } from 'node:worker_threads';
import { failure, type Question } from '../../thread-messages.ts';
import { openForWriting } from './open-for-writing.ts';
import { SqliteWriter } from './sqlite-writer.ts';
import { WriterLoop } from './writer-loop.ts';
import type { WriterJob } from './writer-messages.ts';
import { must } from '../../../must.ts';

/** The writer thread: the only place that writes to the store's SQLite tables. */
const port = must(parentPort);
const writer = new SqliteWriter(openForWriting((workerData as { path: string }).path));
const loop = new WriterLoop(writer, {
  answer: (id, value, transfer) => port.postMessage({ id, value }, transfer ?? []),
  fail: (id, error) => port.postMessage({ id, failure: failure(error) }),
  logBecameLong: () => port.postMessage({ notice: 'the log became long' }),
  report: (report, error) => port.postMessage({ report, failure: failure(error) }),
});
port.on('message', ({ id, job }: Question<WriterJob>) => loop.receive(id, job));
port.postMessage({ ready: true });
