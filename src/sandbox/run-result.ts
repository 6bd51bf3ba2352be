import type { DecoderFailure, DecoderFailureKind, DecoderResult } from '../domain/decoders/decoder-engine.ts';

interface FailureText {
  kind: DecoderFailureKind;
  message: string;
  line?: number;
  column?: number;
  stack?: string;
  console: string[];
}

/** Reads the text of a run (see `realm/run-decoder.ts`; `M` and `P` never get here). */
export function readResult(text: string, durationMs: number, timeoutMs: number): DecoderResult {
  const body = text.slice(1);
  if (text[0] === 'E') {
    const failure = JSON.parse(body) as FailureText;
    return { output: null, console: failure.console, error: failureOf(failure), durationMs };
  }
  const told = text[0] === 'R' ? (JSON.parse(body) as { output: string; console: string[] }) : null;
  const output = told === null ? body : told.output;
  const lines = told?.console ?? [];
  // Several rounds add up.
  if (durationMs > timeoutMs * 2) return failed('TIMEOUT', timeoutMessage(timeoutMs), durationMs);
  if (Buffer.byteLength(output) > 1_048_576) {
    const error = plain('BAD_OUTPUT', 'The decoder returned more than 1048576 bytes of output.');
    return { output: null, console: lines, error, durationMs };
  }
  return { output, console: lines, error: null, durationMs };
}

/** The same words whether isolated-vm ended the run or the pool killed its process. */
export const timeoutMessage = (limitMs: number): string => `The run took longer than ${limitMs} ms.`;
export const memoryMessage = (limitMb: number): string => `The run needed more than ${limitMb} MB of memory.`;

export function failed(kind: DecoderFailureKind, message: string, durationMs: number): DecoderResult {
  return { output: null, console: [], error: plain(kind, message), durationMs };
}

const plain = (kind: DecoderFailureKind, message: string): DecoderFailure => ({
  kind,
  message,
  line: null,
  column: null,
});

function failureOf({ kind, message, line, column, stack }: FailureText): DecoderFailure {
  const place = line ? null : /\bdecoder\.js:(\d{1,7}):(\d{1,7})\)?$/m.exec(stack ?? '');
  return { kind, message, line: line || Number(place?.[1]) || null, column: column || Number(place?.[2]) || null };
}
