import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'vite';
import { expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));
/** Patterns of the console run in the browser of whoever gives it the text. */
const OURS = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (file) => /(?<!\.test)\.ts$/.test(file) && !file.startsWith('console/'),
);
/** Put together from names of their own, and tried with whole sources by the tests of the sandbox. */
const MADE_OF_TEXT = ['http/session-cookie.ts', 'sandbox/source-traits.ts'];

const CHARACTERS = 20_000;
/** Maximum multiple of what a pattern takes that looks at each character once; one that looks at each for each takes thousands. */
const MOST_TIMES = 100;

interface Pattern {
  file: string;
  raw: string;
  regex: RegExp;
}

function patternsOf(file: string): Pattern[] {
  const found: Pattern[] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { regex, raw } = node as { regex?: { pattern: string; flags: string }; raw?: string };
    if (regex !== undefined) found.push({ file, raw: raw!, regex: new RegExp(regex.pattern, regex.flags) });
    for (const child of Object.values(node)) walk(child);
  };
  walk(parseSync(file, readFileSync(`${SRC}/${file}`, 'utf8')).program);
  return found;
}

/**
 * Texts that make a pattern go back and forth where it can: what it looks for again and again, alone or in pairs, behind
 * each beginning, and in the end nothing or something that it does not want.
 */
function* textsAgainst(raw: string): Generator<string> {
  const named = raw.replaceAll(/\\[dDsSwWbBpP](?:\{\w+\})?|\(\?[:=!<]+/g, ' ');
  const words = named.match(/[A-Za-z_]{2,}/g) ?? [];
  const marks = new Set(named.match(/[^A-Za-z0-9\s\\]/g));
  if (/\\s/.test(raw)) marks.add(' ');
  if (/\\0|\[\^/.test(raw)) marks.add('\0');
  const again = new Set([...marks, '1', 'a', '\xa0', '1.', 'a ', ...[...marks].map((mark) => `${mark} `)]);
  for (const one of again)
    for (const before of new Set(['', 'x', '1', ...words, ...marks]))
      for (const end of ['', `\u0001${one}`]) yield `${before}${one.repeat(CHARACTERS / one.length)}${end}`;
}

function tookMs(regex: RegExp, text: string): number {
  regex.lastIndex = 0;
  const { user, system } = process.cpuUsage();
  text.replace(regex, '');
  const after = process.cpuUsage();
  return (after.user + after.system - user - system) / 1000;
}

test('no regular expression takes longer than in proportion to the text', () => {
  const slow: string[] = [];
  const each = Array.from({ length: 9 }, () => tookMs(/x/g, 'a'.repeat(CHARACTERS) + 'x'.repeat(CHARACTERS)));
  const mostMs = MOST_TIMES * Math.max(0.1, each.toSorted((a, b) => a - b)[4]!);
  const patterns = OURS.flatMap(patternsOf);
  expect(patterns.length).toBeGreaterThan(100);
  for (const { file, raw, regex } of patterns) {
    for (const text of textsAgainst(raw)) {
      if ([1, 2, 3].some(() => tookMs(regex, text) < mostMs)) continue;
      slow.push(`${file}: ${raw} on ${JSON.stringify(text.slice(0, 20))}…`);
      break;
    }
  }
  expect(slow).toEqual([]);
});

test('patterns are written out, so that the test above sees them', () => {
  const made = OURS.filter((file) => /\bRegExp\(/.test(readFileSync(`${SRC}/${file}`, 'utf8')));
  expect(made).toEqual(MADE_OF_TEXT);
});
