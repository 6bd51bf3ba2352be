import { expect, test } from 'vitest';
import type { FinishedRun } from '../decoders/run-text.ts';
import { maskedRun } from './masked-run.ts';

const NOTHING: FinishedRun = { output: null, console: [], error: null, durationMs: 1, entries: [] };
const printed = (text: string, headers: [string, string][]): string =>
  maskedRun({ ...NOTHING, console: [text] }, headers).console[0]!;

test.each<[string, [string, string], string, string]>([
  ['whole', ['X-Api-Key', 'k3y-0123456'], 'got k3y-0123456, k3y-0123456', 'got ***, ***'],
  ['with its scheme', ['Authorization', 'Bearer abcdefgh'], 'Bearer abcdefgh', '***'],
  ['without it', ['Authorization', 'Token abcdefgh'], 'token=abcdefgh', 'token=***'],
  ['of several words', ['X-Password', 'my long password'], 'my long password', '***'],
  ['by its cookie', ['Cookie', 'a=1; sid=0123456789; b="x"'], 'sid is 0123456789', 'sid is ***'],
  ['in JSON', ['X-Secret', 'say "open" now'], '{"X-Secret":"say \\"open\\" now"}', '{"X-Secret":"***"}'],
  ['cut', ['X-Secret', '0123456789abcdef'], 'it is 0123456789a', 'it is ***'],
  ['cut and marked', ['X-Secret', '0123456789abcdef'], 'it is 0123456789a…', 'it is ***…'],
  ['cut, of one character', ['X-Secret', 'a'.repeat(30)], `it is ${'a'.repeat(50)}`, 'it is ******'],
  ['too short to know', ['X-Secret', '1234567'], '1234567', '1234567'],
  ['another one that begins alike', ['X-Secret', '0123456789abcdef'], '0123456789 there', '0123456789 there'],
  ['of a header that is shown', ['User-Agent', 'abcdefghi'], 'abcdefghi', 'abcdefghi'],
])('what is printed of a credential is masked: %s', (_, header, text, expected) => {
  expect(printed(text, [['Host', 'x'], header])).toBe(expected);
});

test('in errors, outputs and entries too; numbers, places and kinds stay what they are', () => {
  const entry = {
    index: 0,
    timestamp: 1_700_000_000,
    code: null,
    matchedDeviceId: 'truncated-device',
    matchedFieldKey: 7,
  };
  const run: FinishedRun = {
    ...NOTHING,
    output: '[{"device":"x","12345678":12345678,"value":["12345678","12345678 \\"a\\""]},1.5]',
    error: { kind: 'THREW', message: 'no 12345678', line: 1, column: 2 },
    entries: [
      {
        ...entry,
        device: '12345678',
        field: 'f-12345678',
        value: { a: ['12345678', 12345678] },
        message: 'not 12345678',
      },
    ],
  };
  const masked = maskedRun(run, [['X-Api-Key', '12345678']]);
  expect(JSON.parse(masked.output!)).toEqual([{ device: 'x', '***': 12345678, value: ['***', '*** "a"'] }, 1.5]);
  expect(masked.error).toEqual({ ...run.error, message: 'no ***' });
  expect(masked.entries).toEqual([
    { ...entry, device: '***', field: 'f-***', value: { a: ['***', 12345678] }, message: 'not ***' },
  ]);
  // Its own names are no texts of the decoder's.
  expect(
    maskedRun(run, [
      ['X-Api-Key', 'matchedDeviceId'],
      ['X-Auth', 'truncated-device'],
    ]),
  ).toEqual(run);
});

test('many long credentials in a long run take a moment', () => {
  const cookies = Array.from({ length: 800 }, (_, at) => `c${at}=${'a'.repeat(12)}${at}`).join('; ');
  const line = 'a'.repeat(60_000);
  const output = JSON.stringify(['b'.repeat(500_000), 'a'.repeat(500_000)]);
  const console = Array.from({ length: 7_000 }, (_, at) => `aaaaaaa${at % 10}`);
  const started = performance.now();
  const masked = maskedRun({ ...NOTHING, output, console: [line, ...console] }, [['Cookie', cookies]]);
  expect(performance.now() - started).toBeLessThan(500);
  expect(masked.console.length).toBe(7_001);
});
