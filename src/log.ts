import { randomBytes } from 'node:crypto';
import { pino, type Logger, type LoggerOptions } from 'pino';
import type { LogLevel } from './config.ts';
import { LogOutput } from './log-output.ts';

const WARN = 40;
const SAME_AGAIN_MS = 1_000;
/** Maximum remembered messages; ours are few. */
const MAX_MESSAGES = 200;

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
 * written at most once a second, with the number of `times`, so that refusals do not fill a disk.
 */
export function createLog(level: LogLevel): Logger {
  const told = new Map<string, { at: number; held: number }>();
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: shownError },
    redact: ['*.authorization', '*.password', '*.secret', '*.token'],
    hooks: {
      logMethod(args, method, number) {
        const [facts, message] = args as unknown as [unknown, unknown];
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
        return method.apply(this, [{ ...facts, ...times }, message] as unknown as typeof args);
      },
    },
  };
  // Reading Node's own `stdout` makes a pipe non-blocking.
  return pino(options, (stdout ??= new LogOutput(process.stdout.fd)));
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
