/**
 * The decoder process: reads frames, runs users' code in isolates, writes results; nothing else is in it. The only
 * importer of isolated-vm. Reading and writing block: there is nothing to do between two jobs, and a blocking pipe is the
 * fastest way there and back. Started by `DecoderProcess`.
 */
import { readSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import type isolatedVm from 'isolated-vm';
import { encodeFrame, ENTRY_POINTS, FRAME, FrameReader, NOT_BEGUN, QUICK_MS, RUN_FLAG } from './frames.ts';
import { ThreadClock } from './thread-clock.ts';
import { compileError, failureText, ProductIsolate, toldBy } from './product-isolate.ts';

const SOCKET = 3;
// A stop that is sent to the whole process group is the server's to carry out: this process ends with its socket.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
const memoryMb = Number(process.argv[2]);
const maxIsolates = Number(process.argv[3]);
const maxHeapBytes = Number(process.argv[4]) * 1_048_576;
// By its real path: this process may not read a linked `node_modules` on the way there.
const ivm = createRequire(import.meta.url)(process.argv[5] as string) as typeof isolatedVm;
/**
 * Results wait for company no longer than this, so that the pool knows which job is running, and the server judges and
 * stores the first ones while the next ones run: at 1 ms a webhook takes 8 % fewer calls (measured in turns).
 */
const MAX_HOLD_MS = 0.3;

const sources = new Map<number, string>();
const serials = new Map<number, string>();
/** Those of which a run was long that the pool took for quick: what else it has sent of them goes back, and then comes alone. */
const distrusted = new Set<number>();
/** Those used last at the end. */
const isolates = new Map<number, { isolate: ProductIsolate; workspaceNo: number }>();
const results: Buffer[] = [];
/** Whose run the newest of them is of. */
let newestProductNo = -1;
let lastFlush = performance.now();
/** When there was the first of what is at hand, or the result before it. */
let begun = lastFlush;

const clock = new ThreadClock();
const NOTHING = { wallMs: 0, usedMs: 0 };

const toUs = (ms: number): number => Math.round(ms * 1000);

/** What `work` gives, and what it took by the clock on the wall and of the processor. */
function timed<T>(work: () => T): { value: T; took: typeof NOTHING } {
  const started = performance.now();
  clock.begin(started);
  const value = work();
  const wallMs = performance.now() - started;
  return { value, took: { wallMs, usedMs: clock.usedMs(wallMs) } };
}

/** What has kept this process since then counts as the job's: also the frames that came before it, and what was opened. */
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
  if (results.length > 0) writeAll(results.length === 1 ? results[0]! : Buffer.concat(results));
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
 * When there are too many, or when they hold too much beside the one at hand, the oldest of the workspace with most of
 * them goes: many products of one make room among themselves.
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
  // What has ended waits for no other product's run: nobody knows how long that goes on.
  if (results.length > 0 && (alone || productNo !== newestProductNo)) flush();
  newestProductNo = productNo;
  if (alone) distrusted.delete(sourceNo);
  else if (distrusted.has(sourceNo)) {
    answer(jobId, NOT_BEGUN);
    return;
  }
  const entryPoint = ENTRY_POINTS[flags >> RUN_FLAG.ENTRY_SHIFT]!;
  const lastRound = (flags & RUN_FLAG.LAST_ROUND) !== 0;
  const source = sources.get(sourceNo)!;
  // With what it takes to open its isolate and to compile it: who has that done each time keeps the process for as long.
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
        // Opening an isolate failed: the job is told, the process lives on.
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
  // The event loop gets its turn: isolated-vm frees disposed isolates there.
  setImmediate(turn);
}

// The first isolate is the slowest; it should not be a user's.
new ProductIsolate(ivm, memoryMb).dispose();
writeAll(encodeFrame(FRAME.READY, [], ''));
turn();
