// The texts of the console in each language: `src/console/texts/<tag>.json`, by what they are in English. Adds what is
// absent as "" and takes out what nobody says any more; `--check` only tells of both.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { translatedSource } from './translated-source.ts';

const CONSOLE = join(import.meta.dirname, '../src/console');
const SOURCES = globSync('**/*.{ts,tsx}', { cwd: CONSOLE }).filter(
  (name) => !/\.test\.ts$|\.graphql\.ts$|^texts\//.test(name),
);

/** A text, or its forms by the plural categories of the language. */
type Entry = string | Readonly<Record<string, string>>;
type Catalogue = Readonly<Record<string, Entry>>;

const sources = SOURCES.map((name) => translatedSource(join(CONSOLE, name), readFileSync(join(CONSOLE, name), 'utf8')));
const keys = new Set(sources.flatMap((source) => [...source.keys]));
const counted = new Set(sources.flatMap((source) => [...source.counted]));
for (const path of globSync('texts/*.json', { cwd: CONSOLE }).map((name) => join(CONSOLE, name))) {
  const catalogue = JSON.parse(readFileSync(path, 'utf8')) as Catalogue;
  const categories = new Intl.PluralRules(basename(path, '.json')).resolvedOptions().pluralCategories.toSorted();
  if (process.argv.includes('--check')) check(basename(path), catalogue, categories);
  else {
    const sorted = [...keys].toSorted().map((key) => [key, entryOf(key, catalogue[key], categories)]);
    writeFileSync(path, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
  }
}

/** What is there, with "" for what is not. */
function entryOf(key: string, entry: Entry | undefined, categories: readonly string[]): Entry {
  if (!counted.has(key)) return typeof entry === 'string' ? entry : '';
  const forms = typeof entry === 'object' ? entry : {};
  return Object.fromEntries(categories.map((category) => [category, forms[category] ?? '']));
}

function check(name: string, catalogue: Catalogue, categories: readonly string[]): void {
  const absent = [...keys].filter((key) => formsOf(catalogue[key]).some((text) => !text));
  const gone = Object.keys(catalogue).filter((key) => !keys.has(key));
  const unformed = [...keys].filter(
    (key) => categoriesOf(catalogue[key]) !== (counted.has(key) ? `${categories}` : ''),
  );
  // The only one of its kind may be told without its number.
  const isOdd = (key: string, text: string): boolean => !hasSlotsOf(key, text, counted.has(key));
  const odd = Object.entries(catalogue).filter(([key, entry]) => formsOf(entry).some((text) => isOdd(key, text)));
  for (const [what, texts] of [
    ['has no text for', absent],
    ['has a text for what nobody says', gone],
    [`does not have the forms ${categories.join(', ')} of what counts, or has forms of what does not`, unformed],
    ['has other {slots} than the English in', odd.map(([key]) => key)],
  ] as const)
    if (texts.length > 0) {
      console.error(`${name} ${what}:\n${texts.map((text) => `  ${text}`).join('\n')}`);
      process.exitCode = 1;
    }
  if (process.exitCode === 1) console.error('npm run schema puts absent texts into the file, as ""');
}

function formsOf(entry: Entry | undefined): string[] {
  return typeof entry === 'object' ? Object.values(entry) : [entry ?? ''];
}

function categoriesOf(entry: Entry | undefined): string {
  return typeof entry === 'object' ? Object.keys(entry).toSorted().join() : '';
}

function hasSlotsOf(key: string, text: string, isCounted: boolean): boolean {
  const wanted = slotsOf(key);
  const without = isCounted ? slotsOf(key.replaceAll('{count}', '')) : wanted;
  return text === '' || [wanted, without].includes(slotsOf(text));
}

function slotsOf(text: string): string {
  return [...text.matchAll(/\{\w+\}/g)]
    .map(([slot]) => slot)
    .toSorted()
    .join();
}
