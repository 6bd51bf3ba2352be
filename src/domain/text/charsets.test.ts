import { expect, test } from 'vitest';
import { BYTES_AS_CHARACTERS, charsetOf, decoderOf, REFUSED_BYTES, Utf8Pieces, utf8Text } from './charsets.ts';

const GOOD = 'aé€漢💡\u0000\ufffd\uffff\u{10ffff}';
/** Overlong, too large, half of a surrogate pair, cut, alone. */
const BAD = ['c080', 'f5808080', 'f4908080', 'eda080', 'e282', 'f09f92', '80', 'ff'].map((hex) =>
  Buffer.from(hex, 'hex'),
);

test('what is UTF-8 is read as that', () => {
  expect(utf8Text(Buffer.from(GOOD), BYTES_AS_CHARACTERS)).toBe(GOOD);
});

test.each(BAD)('a byte that is not UTF-8 stands for itself, what is around it is read: %s', (bad) => {
  const bytes = Buffer.concat([Buffer.from(GOOD), bad, Buffer.from(GOOD)]);
  expect(utf8Text(bytes, BYTES_AS_CHARACTERS)).toBe(GOOD + bad.toString('latin1') + GOOD);
  const halves = Array.from(bad, (byte) => String.fromCharCode(REFUSED_BYTES + byte)).join('');
  expect(utf8Text(bytes, REFUSED_BYTES)).toBe(GOOD + halves + GOOD);
});

test('however the bytes are cut, the text is the same', () => {
  const bytes = Buffer.concat([
    Buffer.from(GOOD),
    ...BAD.flatMap((bad) => [bad, Buffer.from(GOOD)]),
    Buffer.of(0xf0, 0x9f),
  ]);
  const whole = utf8Text(bytes, REFUSED_BYTES);
  for (const size of [1, 2, 3, 4, 5, 7, 1_000]) {
    const pieces = new Utf8Pieces();
    let text = '';
    for (let at = 0; at < bytes.length; at += size) text += pieces.read(bytes.subarray(at, at + size));
    expect(text + pieces.end(), String(size)).toBe(whole);
  }
});

test('what another charset cannot read is no character either', () => {
  expect(
    decoderOf('euc-jp')!
      .decode(Buffer.of(0xa4, 0xa2, 0xff))
      .isWellFormed(),
  ).toBe(false);
  expect(decoderOf('latin1')!.decode(Buffer.of(0xe9))).toBe('é');
  expect(decoderOf('klingon')).toBe(null);
});

test.each([
  ['latin-1', 'windows-1252'],
  ['iso8859_1', 'windows-1252'],
  ['iso8859-15', 'iso-8859-15'],
  ['windows1252', 'windows-1252'],
  ['cp1252', 'windows-1252'],
  ['utf16', 'utf-16le'],
  ['utf_16be', 'utf-16be'],
  ['utf8', 'utf-8'],
])('%s is %s', (charset, encoding) => {
  expect(decoderOf(charset)?.encoding).toBe(encoding);
});

test.each([
  ['text/csv; charset=ISO-8859-1', 'iso-8859-1'],
  ['text/csv;header=present; charset="utf-16"; x=y', 'utf-16'],
  ["text/csv; charset='latin1'", 'latin1'],
  ['text/csv; charset=US-ASCII', 'utf-8'],
  ['text/csv', null],
  [undefined, null],
])('the charset of %s', (type, charset) => {
  expect(charsetOf(type)).toBe(charset);
});
