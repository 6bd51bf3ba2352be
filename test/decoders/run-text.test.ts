import { describe, expect, test } from 'vitest';
import type { EntryOutcome } from '../../src/domain/decoders/decoder-run.ts';
import { type FinishedRun, parseRun, runText, toDecoderRun } from '../../src/domain/decoders/run-text.ts';

const entry: EntryOutcome = {
  index: 0,
  device: 'd"1',
  field: 'F',
  value: 'v',
  timestamp: 5,
  code: null,
  message: null,
  matchedDeviceId: 'id',
  matchedFieldKey: 3,
};
const run: FinishedRun = {
  output: '[{"device":"d","value":{"$inlet":"NaN"}}]',
  console: ['a "line"', '\0\ud800'],
  error: null,
  durationMs: 0.25,
  entries: [entry],
};

describe('a run in the call log', () => {
  test('reads back as the test tool would show it', () => {
    expect(parseRun(runText(run))).toEqual(toDecoderRun(run));
    expect(toDecoderRun(run)).toMatchObject({ ok: true, output: [{ device: 'd', value: 'NaN' }], truncated: false });
  });

  test('its text is ASCII-safe where databases are not: neither NUL nor half a surrogate pair is in it', () => {
    expect(runText(run)).not.toContain('\0');
    expect(runText(run).isWellFormed()).toBe(true);
  });

  test('a failure has no output and says why', () => {
    const error = { kind: 'THREW' as const, message: 'no', line: 1, column: null };
    expect(parseRun(runText({ ...run, output: null, error, entries: [] }))).toEqual({
      ok: false,
      output: null,
      console: run.console,
      error,
      durationMs: 0.25,
      entries: [],
      truncated: false,
    });
  });

  test('output over 64 KiB and entries over 128 KiB are cut and marked', () => {
    const long = parseRun(runText({ ...run, output: JSON.stringify('x'.repeat(100_000)) }));
    expect(long.truncated).toBe(true);
    expect(long.output).toMatch(/^"x{65535}…$/);
    const many = runText({ ...run, entries: Array.from({ length: 10_000 }, (_, index) => ({ ...entry, index })) });
    expect(many.length).toBeLessThan(140_000);
    expect(parseRun(many).truncated).toBe(true);
    expect(parseRun(many).entries.length).toBeGreaterThan(100);
  });
});
