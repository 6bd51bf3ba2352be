import { expect, test } from 'vitest';
import type { EntryOutcome } from '../decoders/decoder-run.ts';
import type { FinishedRun } from '../decoders/finished-run.ts';
import { credentialsIn, secretMask } from '../decoders/call-secrets.ts';
import { runText } from './run-text.ts';

const NOTHING: FinishedRun = { output: null, console: [], error: null, durationMs: 1, entries: [], answer: null };
const entry = (more: Partial<EntryOutcome>): EntryOutcome => ({
  index: 0,
  device: null,
  field: null,
  value: null,
  timestamp: 1_700_000_000,
  code: null,
  message: null,
  matchedDeviceId: 'truncated-device',
  matchedFieldKey: 7,
  ...more,
});
const logged = (run: Partial<FinishedRun>, headers: [string, string][]): any =>
  JSON.parse(runText({ ...NOTHING, ...run }, secretMask(credentialsIn(headers))));

test.each<[string, [string, string], string, string]>([
  ['whole', ['X-Api-Key', 'k3y-0123456'], 'got k3y-0123456, k3y-0123456', 'got ***, ***'],
  ['with its scheme', ['Authorization', 'Bearer abcdefgh'], 'Bearer abcdefgh', '***'],
  ['without it', ['Authorization', 'Token abcdefgh'], 'token=abcdefgh', 'token=***'],
  ['of several words', ['X-Password', 'my long password'], 'my long password', '***'],
  ['by its cookie', ['Cookie', 'a=1; sid=0123456789; b="x"'], 'sid is 0123456789', 'sid is ***'],
  ['in JSON', ['X-Secret', 'say "open" now'], '{"X-Secret":"say \\"open\\" now"}', '{"X-Secret":"***"}'],
  ['cut', ['X-Secret', '0123456789abcdef'], 'it is 0123456789a', 'it is ***'],
  ['cut and marked', ['X-Secret', '0123456789abcdef'], 'it is 0123456789a…', 'it is ***…'],
  ['cut in a message', ['X-Secret', '0123456789abcdef'], 'no "0123456789a"; it is', 'no "***"; it is'],
  ['with a quote in it', ['X-Secret', '01234567"89"'], 'it is 01234567"89"', 'it is ***'],
  ['cut, with a quote in it', ['X-Secret', '01234567"89"'], 'it is 01234567"89', 'it is ***'],
  ['cut, in JSON', ['X-Secret', '01234567"89"'], '["01234567\\"8', '["***'],
  ['in JSON in JSON', ['X-Secret', '01234567"89"'], '["\\"01234567\\\\\\"89\\\\\\"\\""]', '["\\"***\\""]'],
  ['cut too early to know', ['X-Secret', '0123456789abcdef'], 'no "0123456"', 'no "0123456"'],
  ['another device that begins alike', ['X-Secret', 'hall-sensor-1'], 'hall-sensor-2', 'hall-sensor-2'],
  ['cut, of one character', ['X-Secret', 'a'.repeat(30)], `it is ${'a'.repeat(50)}`, 'it is ******'],
  ['too short to know', ['X-Secret', '1234567'], '1234567', '1234567'],
  ['another one that begins alike', ['X-Secret', '0123456789abcdef'], '0123456789 there', '0123456789 there'],
  ['of a header that is shown', ['User-Agent', 'abcdefghi'], 'abcdefghi', 'abcdefghi'],
])('what is printed of a credential is masked: %s', (_, header, text, expected) => {
  expect(logged({ console: [text] }, [['Host', 'x'], header]).console).toEqual([expected]);
});

test('what is a credential and nothing but blanks is too short to be one', () => {
  expect(credentialsIn([['X-Token', `a${'\u00a0'.repeat(16_000)}`]])).not.toContain('a');
});

test('in errors, outputs and entries too; numbers, places and kinds stay what they are', () => {
  const run = {
    output: '[{"device":"x","12345678":12345678,"value":["12345678","12345678 \\"a\\""]},1.5]',
    error: { kind: 'THREW' as const, message: 'no 12345678', line: 1, column: 2 },
    entries: [
      entry({
        device: '12345678',
        field: 'f-12345678',
        value: { a: ['12345678', 12345678] },
        message: 'not 12345678',
      }),
    ],
  };
  const masked = logged(run, [['X-Api-Key', '12345678']]);
  expect(masked.output).toEqual([{ device: 'x', '***': 12345678, value: ['***', '*** "a"'] }, 1.5]);
  expect(masked.error).toEqual({ ...run.error, message: 'no ***' });
  expect(masked.entries).toEqual([
    entry({ device: '***', field: 'f-***', value: { a: ['***', 12345678] }, message: 'not ***' }),
  ]);
  // Its own names, and a type, are no texts of the decoder's.
  expect(
    logged(run, [
      ['X-Api-Key', 'matchedDeviceId'],
      ['X-Auth', 'truncated-device'],
    ]),
  ).toEqual(logged(run, []));
  const suggestedField = { identifier: 'position', type: 'GEOLOCATION' as const, name: '12345678', unit: null };
  const suggesting = { entries: [entry({ suggestedField })] };
  for (const header of ['identifier', 'GEOLOCATION'])
    expect(logged(suggesting, [['X-Api-Key', header]])).toEqual(logged(suggesting, []));
  expect(logged(suggesting, [['X-Api-Key', '12345678']]).entries).toEqual([
    entry({ suggestedField: { ...suggestedField, name: '***' } }),
  ]);
});

test('of what is cut only the part that is kept is looked at, and nothing of a credential stands at its end', () => {
  const secret = 's3cret-0123456789';
  const texts = Array.from({ length: 300_000 }, () => secret);
  const entries = Array.from({ length: 10_000 }, (_, index) => entry({ index, value: secret }));
  const mask = secretMask(credentialsIn([['X-Api-Key', secret]]))!;
  let looked = 0;
  const text = runText({ ...NOTHING, output: JSON.stringify(texts), entries }, (shown) => {
    looked += shown.length;
    return mask(shown);
  });
  const run: unknown = JSON.parse(text);
  expect(run).toMatchObject({ truncated: true, output: expect.stringMatching(/^\["\*\*\*","\*{3}",.*…$/) });
  expect(JSON.stringify(run)).not.toMatch(/s3cret/);
  // The output alone has six millions.
  expect(looked).toBeLessThan(200_000);
});

test('no part of a credential is left where the output is cut', () => {
  const secret = 's3cret-0123456789';
  for (let at = 65_536 - 20; at <= 65_536; at += 1) {
    const output = JSON.stringify(['a'.repeat(at - 2) + secret, 'b'.repeat(100)]);
    expect(logged({ output }, [['X-Api-Key', secret]]).output).not.toMatch(/s3?c?r?e?t?-?…$/);
  }
});

test('many long credentials in a long run hide no line', () => {
  const cookies = Array.from({ length: 800 }, (_, at) => `c${at}=${'a'.repeat(12)}${at}`).join('; ');
  const line = 'a'.repeat(60_000);
  const output = JSON.stringify(['b'.repeat(500_000), 'a'.repeat(500_000)]);
  const console = Array.from({ length: 7_000 }, (_, at) => `aaaaaaa${at % 10}`);
  const run = logged({ output, console: [line, ...console] }, [['Cookie', cookies]]);
  expect(run.console.length).toBe(7_001);
});
