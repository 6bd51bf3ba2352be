import { describe, expect, test, vi } from 'vitest';
import { LoggedRun } from '../../src/domain/calls/logged-run.ts';
import { runText } from '../../src/domain/calls/run-text.ts';
import type { DecoderRun, EntryOutcome } from '../../src/domain/decoders/decoder-run.ts';
import { type FinishedRun, toDecoderRun } from '../../src/domain/decoders/finished-run.ts';

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
  answer: { status: 201, contentType: 'text/plain', body: '],"x":[' },
};

/** All that is read off the run of a row. */
function parseRun(text: string): DecoderRun {
  const { ok, output, console, error, durationMs, entries, answer, truncated } = new LoggedRun(text, (value) => value);
  return { ok, output, console, error, durationMs, entries, answer, truncated };
}

describe('a run in the call log', () => {
  test('reads back as the test tool would show it', () => {
    expect(parseRun(runText(run))).toEqual(toDecoderRun(run));
    expect(toDecoderRun(run)).toMatchObject({ ok: true, output: [{ device: 'd', value: 'NaN' }], truncated: false });
  });

  test('each part is found, whatever the others look like', () => {
    for (const value of [
      '',
      '"',
      '\\',
      '\\"',
      '\\\\"],"',
      '{[,',
      ',"console":["x"]',
      [],
      {},
      [[], [[{}]]],
      1e300,
      -0.5,
      null,
      true,
    ]) {
      const text = JSON.stringify(value);
      const odd = {
        ...run,
        output: text,
        console: [text, JSON.stringify(text)],
        error: { kind: 'THREW' as const, message: text, line: 3, column: null },
        entries: [{ ...entry, device: text, value }],
      };
      expect(parseRun(runText(odd))).toEqual(toDecoderRun(odd));
    }
  });

  test('nothing is parsed that is not asked for', () => {
    const parse = vi.spyOn(JSON, 'parse');
    try {
      const logged = new LoggedRun(runText(run), (value) => value);
      expect([logged.ok, parse.mock.calls.length]).toEqual([true, 0]);
      expect([logged.durationMs, parse.mock.calls]).toEqual([0.25, [['0.25']]]);
    } finally {
      parse.mockRestore();
    }
  });

  test('its text is ASCII-safe where databases are not: neither NUL nor half a surrogate pair is in it', () => {
    expect(runText(run)).not.toContain('\0');
    expect(runText(run).isWellFormed()).toBe(true);
  });

  test('a failure has no output and says why', () => {
    const error = { kind: 'THREW' as const, message: 'no', line: 1, column: null };
    expect(parseRun(runText({ ...run, output: null, error, entries: [], answer: null }))).toEqual({
      ok: false,
      output: null,
      console: run.console,
      error,
      durationMs: 0.25,
      entries: [],
      answer: null,
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
