/**
 * The decoder process: reads frames, runs users' code in isolates, writes results. Started by `DecoderProcess`; the
 * only importer of isolated-vm. Reads and writes block, which is fastest, as there is nothing to do between two jobs.
 */
import { readSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import type isolatedVm from 'isolated-vm';
import { encodeFrame, ENTRY_POINTS, FRAME, FrameReader, NOT_BEGUN, QUICK_MS, RUN_FLAG } from './frames.ts';
import { ThreadClock } from './thread-clock.ts';
import { compileError, failureText, ProductIsolate, toldBy } from './product-isolate.ts';
import { must } from '../must.ts';

const SOCKET = 3;
// Signals to the process group are handled by the server; this process ends with its socket.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
const memoryMb = Number(process.argv[2]);
const maxIsolates = Number(process.argv[3]);
const maxHeapBytes = Number(process.argv[4]) * 1_048_576;
// Loaded by its real path, as this process may not read a linked `node_modules`.
const ivm = createRequire(import.meta.url)(process.argv[5] as string) as typeof isolatedVm;
/**
 * Maximum time that results wait to be written together, so that the pool knows which job runs and the server handles
 * the first results meanwhile.
 */
const MAX_HOLD_MS = 0.3;

const sources = new Map<number, string>();
const serials = new Map<number, string>();
/** Sources that had a long run while the pool took them for quick: their other jobs go back and then come alone. */
const distrusted = new Set<number>();
/** Isolates by product, the last used one at the end. */
const isolates = new Map<number, { isolate: ProductIsolate; workspaceNo: number }>();
const results: Buffer[] = [];
/** Product of the newest result. */
let newestProductNo = -1;
let lastFlush = performance.now();
/** Start of the current job: when its frames came, or the result before it. */
let begun = lastFlush;

const clock = new ThreadClock();
const NOTHING = { wallMs: 0, usedMs: 0 };

const toUs = (ms: number): number => Math.round(ms * 1000);

/** Runs `work`; returns its value with its wall time and processor time. */
function timed<T>(work: () => T): { value: T; took: typeof NOTHING } {
  const started = performance.now();
  clock.begin(started);
  const value = work();
  const wallMs = performance.now() - started;
  return { value, took: { wallMs, usedMs: clock.usedMs(wallMs) } };
}

/** Answers a job and charges all time since `begun` to it, such as reading frames and opening its isolate. */
function answer(jobId: number, text: string, durationMs = 0, took = NOTHING): void {
  const now = performance.now();
  const { wallMs, usedMs } = took;
  const times = [toUs(durationMs), toUs(wallMs), toUs(usedMs), toUs(now - begun)];
  results.push(encodeFrame(FRAME.RESULT, [jobId, ...times], text));
  begun = now;
}

function writeAll(bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(SOCKET, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') process.exit(0);
    }
  }
}

function flush(): void {
  if (results.length > 0) writeAll(results.length === 1 ? must(results[0]) : Buffer.concat(results));
  results.length = 0;
  lastFlush = performance.now();
}

function isolateOf(productNo: number, workspaceNo: number): ProductIsolate {
  let isolate = isolates.get(productNo)?.isolate;
  isolates.delete(productNo);
  const isNew = isolate === undefined || isolate.disposed;
  if (isolate === undefined || isolate.disposed) {
    isolate = new ProductIsolate(ivm, memoryMb);
    const text = serials.get(productNo);
    if (text !== undefined) isolate.setSerials(text);
  }
  isolates.set(productNo, { isolate, workspaceNo });
  if (isNew) makeRoom(isolate);
  return isolate;
}

/**
 * Disposes of isolates while there are too many or they hold too much: the oldest of the workspace with most of them,
 * so that many products of one workspace displace only each other.
 */
function makeRoom(atHand: ProductIsolate): void {
  let bytes = -atHand.heldBytes;
  for (const { isolate } of isolates.values()) bytes += isolate.heldBytes;
  while (isolates.size > 1 && (isolates.size > maxIsolates || bytes > maxHeapBytes)) {
    const counts = new Map<number, number>();
    for (const { workspaceNo } of isolates.values()) counts.set(workspaceNo, (counts.get(workspaceNo) ?? 0) + 1);
    const most = Math.max(...counts.values());
    for (const [productNo, { isolate, workspaceNo }] of isolates) {
      if (isolate === atHand || counts.get(workspaceNo) !== most) continue;
      bytes -= isolate.heldBytes;
      isolate.dispose();
      isolates.delete(productNo);
      break;
    }
  }
}

function run(frame: Buffer): void {
  const jobId = frame.readUInt32LE(1);
  const productNo = frame.readUInt32LE(5);
  const workspaceNo = frame.readUInt32LE(9);
  const sourceNo = frame.readUInt32LE(13);
  const timeout = frame.readUInt32LE(17);
  const flags = frame.readUInt32LE(21);
  const inputEnd = 29 + frame.readUInt32LE(25);
  const input = frame.toString('utf8', 29, inputEnd);
  const lookedUp = inputEnd === frame.length ? '' : frame.toString('utf8', inputEnd);
  const alone = (flags & RUN_FLAG.ALONE) !== 0;
  // Results do not wait for another product's run, which may be long.
  if (results.length > 0 && (alone || productNo !== newestProductNo)) flush();
  newestProductNo = productNo;
  if (alone) distrusted.delete(sourceNo);
  else if (distrusted.has(sourceNo)) {
    answer(jobId, NOT_BEGUN);
    return;
  }
  const entryPoint = must(ENTRY_POINTS[flags >> RUN_FLAG.ENTRY_SHIFT]);
  const lastRound = (flags & RUN_FLAG.LAST_ROUND) !== 0;
  const source = must(sources.get(sourceNo));
  // Includes opening the isolate and compiling, which keep the process as well.
  const { value, took } = timed(() => {
    const isolate = isolateOf(productNo, workspaceNo);
    return { isolate, ...isolate.run(sourceNo, source, entryPoint, input, lookedUp, lastRound, timeout) };
  });
  const { isolate } = value;
  answer(jobId, value.text, value.durationMs, took);
  if (!alone && took.usedMs > QUICK_MS) distrusted.add(sourceNo);
  if (alone || begun - lastFlush > MAX_HOLD_MS) flush();
  if (isolate.measure(took.wallMs)) makeRoom(isolate);
  if (isolate.disposed) isolates.delete(productNo);
}

function check(frame: Buffer): void {
  const jobId = frame.readUInt32LE(1);
  flush();
  const isolate = new ivm.Isolate({ memoryLimit: Math.max(8, memoryMb), onCatastrophicError: () => process.abort() });
  const { value, took } = timed(() => compileError(isolate, frame.toString('utf8', 5)) ?? 'Onull');
  if (!isolate.isDisposed) isolate.dispose();
  answer(jobId, value, 0, took);
}

function take(frame: Buffer): void {
  switch (frame[0]) {
    case FRAME.SOURCE:
      sources.set(frame.readUInt32LE(1), frame.toString('utf8', 5));
      break;
    case FRAME.DROP_SOURCE:
      sources.delete(frame.readUInt32LE(1));
      distrusted.delete(frame.readUInt32LE(1));
      break;
    case FRAME.SERIALS: {
      const productNo = frame.readUInt32LE(1);
      const text = frame.toString('utf8', 5);
      if (text === '') serials.delete(productNo);
      else {
        serials.set(productNo, text);
        isolates.get(productNo)?.isolate.setSerials(text);
      }
      break;
    }
    case FRAME.RUN:
      try {
        run(frame);
      } catch (error) {
        // Opening an isolate failed: answer the job and go on.
        const message = `The decoder could not be started: ${toldBy(error).message}`;
        answer(frame.readUInt32LE(1), failureText('OUT_OF_MEMORY', message));
      }
      break;
    case FRAME.CHECK:
      check(frame);
      break;
  }
}

const reader = new FrameReader(2 ** 32);
const chunk = Buffer.allocUnsafe(1 << 18);

function turn(): void {
  let size: number;
  try {
    size = readSync(SOCKET, chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') process.exit(0);
    setTimeout(turn, 1);
    return;
  }
  if (size === 0) process.exit(0); // the server is gone
  lastFlush = begun = performance.now();
  reader.push(chunk.subarray(0, size), take);
  flush();
  // isolated-vm frees disposed isolates in turns of the event loop.
  setImmediate(turn);
}

// The first isolate is the slowest, so no user's run should be in it.
new ProductIsolate(ivm, memoryMb).dispose();
writeAll(encodeFrame(FRAME.READY, [], ''));
turn();
