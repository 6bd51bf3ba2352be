import type { DecoderFailure, DecoderFailureKind, DecoderResult } from '../domain/decoders/decoder-engine.ts';
import { excessOf } from '../domain/text/json-text.ts';
import type { Loss } from './decoder-process.ts';
import { memoryMessage, timeoutMessage } from './limit-messages.ts';
import type { PoolJob } from './pool-job.ts';
import { readJson, UNTRUSTED } from './untrusted-json.ts';

interface Limits {
  timeoutMs: number;
  memoryMb: number;
}

const KINDS: Record<DecoderFailureKind, true> = {
  SYNTAX: true,
  NO_DECODER_FUNCTION: true,
  THREW: true,
  TIMEOUT: true,
  OUT_OF_MEMORY: true,
  BAD_OUTPUT: true,
};
const MAX_OUTPUT_BYTES = 1_048_576;
const MAX_CONSOLE_LINES = 70_000;
/** Maximum console text in characters; the realm cuts at 64 KiB. */
const MAX_CONSOLE = 131_072;
const MAX_MESSAGE = 4_000;
/** Maximum column; a source is shorter, but users' code can write any number into a stack. */
const MAX_COLUMN = 1_000_000;

/**
 * Reads the result in the text of a run (see `realm/run-decoder.ts`; not `M` and `P`). Users' code may have written the
 * text, so only its shape is trusted: all else is `BAD_OUTPUT`.
 */
export function readResult(text: string, sourceLines: number, durationMs: number): DecoderResult {
  const body = text.slice(1);
  if (text[0] === 'O') return outputOf(body, [], durationMs);
  const told = readJson(body);
  if (isObject(told)) {
    const console = linesOf(told['console']);
    if (text[0] === 'R' && console !== null && typeof told['output'] === 'string') {
      return outputOf(told['output'], console, durationMs);
    }
    const error = text[0] === 'E' ? failureOf(told, sourceLines) : null;
    if (error !== null && console !== null) return { output: null, value: null, console, error, durationMs };
  }
  return failed('BAD_OUTPUT', 'The run ended with a result that cannot be read.', durationMs);
}

/** Result of a run that has used more than its time. */
export const timedOut = (limitMs: number, spentMs: number): DecoderResult =>
  failed('TIMEOUT', timeoutMessage(limitMs), spentMs);

/** Result of a job whose process had to be ended for it. */
export function lostResult(job: PoolJob, reason: Loss['reason'], limits: Limits): DecoderResult {
  if (job.job === null) return failed('SYNTAX', 'The source takes too much time or memory to be parsed.', 0);
  if (reason === 'TIMEOUT' || reason === 'STARVED') return timedOut(limits.timeoutMs, limits.timeoutMs);
  return failed('OUT_OF_MEMORY', memoryMessage(limits.memoryMb), job.spentMs);
}

/** A failed result without output, console and place in the source. */
export function failed(kind: DecoderFailureKind, message: string, durationMs: number): DecoderResult {
  const error = { kind, message, line: null, column: null };
  return { output: null, value: null, console: [], error, durationMs };
}

function outputOf(output: string, console: string[], durationMs: number): DecoderResult {
  const bad = (message: string): DecoderResult => ({ ...failed('BAD_OUTPUT', message, durationMs), console });
  // A UTF-16 unit takes at most three bytes.
  if (output.length * 3 > MAX_OUTPUT_BYTES && Buffer.byteLength(output) > MAX_OUTPUT_BYTES) {
    return bad(`The decoder returned more than ${MAX_OUTPUT_BYTES} bytes of output.`);
  }
  const value = readJson(output);
  if (value === undefined) {
    const excess = excessOf(output, UNTRUSTED);
    return bad(excess === null ? 'The run ended with a result that cannot be read.' : `The output ${excess}.`);
  }
  return { output, value, console, error: null, durationMs };
}

function failureOf(told: Record<string, unknown>, sourceLines: number): DecoderFailure | null {
  const { kind, message, stack } = told;
  if (typeof kind !== 'string' || !Object.hasOwn(KINDS, kind) || typeof message !== 'string') return null;
  const place = typeof stack === 'string' ? /\bdecoder\.js:(\d{1,7}):(\d{1,7})\)?$/m.exec(stack) : null;
  const line = told['line'] || Number(place?.[1]);
  const column = told['line'] ? told['column'] : Number(place?.[2]);
  const isThere = isPositive(line) && line <= sourceLines;
  return {
    kind: kind as DecoderFailureKind,
    message: message.slice(0, MAX_MESSAGE),
    line: isThere ? line : null,
    column: isThere && isPositive(column) && column <= MAX_COLUMN ? column : null,
  };
}

function linesOf(value: unknown): string[] | null {
  if (!Array.isArray(value) || value.length > MAX_CONSOLE_LINES) return null;
  let length = 0;
  for (const line of value as unknown[]) {
    if (typeof line !== 'string') return null;
    length += line.length;
  }
  return length > MAX_CONSOLE ? null : (value as string[]);
}

const isPositive = (value: unknown): value is number => Number.isInteger(value) && (value as number) > 0;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
