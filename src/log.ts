import { pino, type Logger } from 'pino';
import type { LogLevel } from './config.ts';

/** JSON lines on stdout (CONTRACT 2): `level` as a word, `time` in ISO 8601, `msg`. */
export function createLog(level: LogLevel): Logger {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: ['*.authorization', '*.password', '*.secret', '*.token'],
  });
}
