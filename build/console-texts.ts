// The texts of the console in each language: `src/console/texts/<tag>.json`, by what they are in English. Adds what is
// absent as "" and takes out what nobody says any more; `--check` only tells of both.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { translatedSource } from './translated-source.ts';

const CONSOLE = join(import.meta.dirname, '../src/console');
const SOURCES = globSync('**/*.{ts,tsx}', { cwd: CONSOLE }).filter(
  (name) => !/\.test\.ts$|\.graphql\.ts$|^texts\//.test(name),
);

const keys = new Set(SOURCES.flatMap((name) => [...keysOf(join(CONSOLE, name))]));
for (const path of globSync('texts/*.json', { cwd: CONSOLE }).map((name) => join(CONSOLE, name))) {
  const catalogue = JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>;
  if (process.argv.includes('--check')) check(basename(path), catalogue);
  else {
    const sorted = [...keys].toSorted().map((key) => [key, catalogue[key] ?? '']);
    writeFileSync(path, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
  }
}

function keysOf(path: string): ReadonlySet<string> {
  return translatedSource(path, readFileSync(path, 'utf8')).keys;
}

function check(name: string, catalogue: Readonly<Record<string, string>>): void {
  const absent = [...keys].filter((key) => !catalogue[key]);
  const gone = Object.keys(catalogue).filter((key) => !keys.has(key));
  const odd = Object.entries(catalogue).filter(([key, text]) => text !== '' && slotsOf(key) !== slotsOf(text));
  for (const [what, texts] of [
    ['has no text for', absent],
    ['has a text for what nobody says', gone],
    ['has other {slots} than the English in', odd.map(([key]) => key)],
  ] as const)
    if (texts.length > 0) {
      console.error(`${name} ${what}:\n${texts.map((text) => `  ${text}`).join('\n')}`);
      process.exitCode = 1;
    }
  if (process.exitCode === 1) console.error('npm run schema puts absent texts into the file, as ""');
}

function slotsOf(text: string): string {
  return [...text.matchAll(/\{\w+\}/g)]
    .map(([slot]) => slot)
    .toSorted()
    .join();
}
