import { randomBytes } from 'node:crypto';
import { fstatSync, Utf8Stream, writeSync } from 'node:fs';
import { pino, type Logger, type LoggerOptions } from 'pino';
import type { LogLevel } from './config.ts';

const WARN = 40;
const SAME_AGAIN_MS = 1_000;
/** Maximum remembered messages; ours are few. */
const MAX_MESSAGES = 200;
/** Maximum characters of lines that wait for a slowly read pipe or a full disk; further ones are lost. */
const MAX_WAITING = 64 * 1_048_576;
const AT_ONCE = 65_536;
/** Pause before a failed write is tried again. */
const AGAIN_MS = 10;
/** Maximum tries at the end of a process, a tenth of a second apart. */
const LAST_TRIES = 10;
/** Codes of a pipe or socket whose other end is gone for good. */
const GONE: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ECONNRESET', 'ENOTCONN', 'ETIMEDOUT']);

/** Output of the process; `logAtRest` writes its rest. */
let stdout: LogOutput | undefined;

/** Reduces an error to safe fields: libraries' own (`rawPacket` of a parse error) may hold credentials. */
function shownError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'object' ? 'not an Error' : error;
  const { name, message, stack, code, cause } = error as Error & { code?: unknown };
  return {
    type: name,
    message,
    ...(typeof code === 'string' ? { code } : {}),
    stack,
    ...(cause === undefined || depth > 4 ? {} : { cause: shownError(cause, depth + 1) }),
  };
}

/**
 * Logger of JSON lines on stdout (CONTRACT 2): `level` as a word, `time` in ISO 8601, `msg`. A repeated warning is
 * written at most once a second, with the number of `times`, so that refusals do not fill a disk. `worker`: the number of
 * this process among several, in each line.
 */
export function createLog(level: LogLevel, worker?: number): Logger {
  const told = new Map<string, { at: number; held: number }>();
  const options: LoggerOptions = {
    level,
    base: worker === undefined ? null : { worker },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: shownError },
    redact: ['*.authorization', '*.password', '*.secret', '*.token'],
    hooks: {
      logMethod(args, method, number) {
        const [facts, message]: readonly unknown[] = args;
        if (number !== WARN || typeof facts !== 'object' || facts === null || typeof message !== 'string')
          return method.apply(this, args);
        const now = performance.now();
        const last = told.get(message);
        if (last !== undefined && now - last.at < SAME_AGAIN_MS) {
          last.held += 1;
          return;
        }
        if (last === undefined && told.size >= MAX_MESSAGES) told.clear();
        told.set(message, { at: now, held: 0 });
        const times = last === undefined || last.held === 0 ? {} : { times: last.held + 1 };
        return Reflect.apply(method, this, [{ ...facts, ...times }, message]);
      },
    },
  };
  if (stdout === undefined) {
    // Reading Node's own `stdout` makes a pipe non-blocking.
    stdout = openLogOutput(process.stdout.fd);
    process.on('exit', stdout.flushSync);
  }
  return pino(options, stdout);
}

/** Writes a line that another process has logged, once there is a log. */
export function forwardLine(line: string): void {
  stdout?.write(`${line}\n`);
}

/** Destination of a log's lines. */
interface LogOutput {
  /** Never waits, never throws; what could not be written is tried again. */
  write: (line: string) => void;
  /** Writes what waits, or gives up; for the last lines of a process. */
  flushSync: () => void;
  /** Resolves when nothing is being written, or writing has failed. */
  atRest: () => Promise<void>;
}

/**
 * Writes lines to an open file or pipe, and survives whatever happens to it. A pipe, which must be non-blocking, has each
 * line at once, so that it is kept however the process ends; a file, whose disk may hang, is written by another thread.
 */
export function openLogOutput(fd: number): LogOutput {
  const opened = fstatSync(fd);
  const isPipe = opened.isFIFO() || opened.isSocket();
  let again: NodeJS.Timeout | undefined;
  let triesLeft = 0;
  let stream: Utf8Stream | null = new Utf8Stream({
    fd,
    sync: isPipe,
    minLength: 1,
    maxLength: MAX_WAITING,
    maxWrite: AT_ONCE,
    retryEAGAIN: () => (triesLeft -= 1) >= 0,
    fs: {
      // Makes every error one that the stream gives up on: others it tries for ever at the end of the process.
      writeSync: (...args: Parameters<typeof writeSync>) => {
        try {
          return writeSync(...args);
        } catch (cause) {
          throw Object.assign(new Error('the log cannot be written', { cause }), { code: 'EAGAIN' });
        }
      },
    },
  });
  stream.on('error', ({ cause }: Error) => {
    if (isPipe && GONE.has((cause as NodeJS.ErrnoException | undefined)?.code)) stream = null;
    again ??= setTimeout(() => {
      again = undefined;
      stream?.flush(() => {});
    }, AGAIN_MS).unref();
  });
  return {
    write: (line) => void stream?.write(line),
    flushSync: () => {
      triesLeft = LAST_TRIES;
      try {
        stream?.flushSync();
      } catch {
        // Nobody can be told.
      }
      triesLeft = 0;
    },
    atRest: () => new Promise((resolve) => (stream === null ? resolve() : stream.flush(() => resolve()))),
  };
}

/** Resolves when all logged lines are written, or cannot be; wait for it before an orderly exit. */
export async function logAtRest(): Promise<void> {
  await stdout?.atRest();
}

/**
 * Ends the process on an uncaught error or unhandled rejection, as its state is unknown then, after a line that says
 * why (`fatal` writes before it returns).
 */
export function endOnUncaught(log: Logger): void {
  process.on('uncaughtException', (error: unknown) => {
    try {
      log.fatal({ err: error, id: randomBytes(6).toString('hex') }, 'uncaught error: the server ends');
    } finally {
      process.exit(1);
    }
  });
}
