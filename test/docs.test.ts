import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readConfig } from '../src/config.ts';
import { LANES } from '../src/scheduling/lanes.ts';
import { POOLS } from '../src/scheduling/pools.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGES = ['README.md', ...filesIn('docs').filter((file) => file.endsWith('.md'))];
const SOURCES = filesIn('src').filter((file) => file.endsWith('.ts'));
/** What some settings are only read with. */
const WITH_OTHERS: Record<string, string> = { BACKUP_DIR: 'backups' };

function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file}`)
    .toSorted();
}

/** The rows of the first table behind a heading, each with its cells. */
function rowsBehind(page: string, heading: string): string[][] {
  const table = /\n\n((?:\|.*\n)+)/.exec(textOf(page).split(`\n${heading}\n`)[1]!)![1]!;
  const rows = table.trimEnd().split('\n').slice(2);
  return rows.map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** A setting as the mistake in it says what may be there. */
function rangeOf(name: string): string {
  try {
    readConfig({ ...WITH_OTHERS, [name]: '?' });
  } catch (error) {
    const range = /expected a (?:whole )?number from (\S+) to (\S+)\./.exec((error as Error).message);
    if (range !== null)
      return range
        .slice(1)
        .map((number) => Number(number).toLocaleString('en'))
        .join(' to ');
  }
  return '';
}

test('the settings in docs/operating.md are those of the code', () => {
  const text = textOf('src/config.ts') + textOf('src/mqtt-settings.ts') + textOf('src/map-tile-settings.ts');
  const settings = [...text.matchAll(/\/\*\*\s+(?:\* )?`([A-Z_]+)` \((.+?)\): ([^]*?)\s*\*\//g)].map(
    ([, name, value, meaning]) => ({ name: name!, value: value!, meaning: meaning!.replaceAll(/\s*\n\s*\* /g, ' ') }),
  );
  const asked = new Set<string>();
  readConfig(new Proxy(WITH_OTHERS, { get: (env, name: string) => (asked.add(name), env[name]) }));
  expect(settings.map(({ name }) => name).toSorted()).toEqual([...asked].toSorted());
  for (const { name, value } of settings)
    if (value.startsWith('`'))
      expect(readConfig({ ...WITH_OTHERS, [name]: value.slice(1, -1) }), name).toEqual(readConfig(WITH_OTHERS));
  const rows = settings.map(({ name, value, meaning }) => [`\`${name}\``, value, rangeOf(name), meaning]);
  const written = (table: string[][]): string => table.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  expect(written(rowsBehind('docs/operating.md', '## Settings')), `paste:\n${written(rows)}\n`).toBe(written(rows));
});

/** The number that a constant of the source has; `file.ts NAME`, or `file.ts NAME.key` where it is an object. */
function constantOf(where: string): number {
  const [, file, name, key] = /^(\S+) (\w+)(?:\.(.+))?$/.exec(where)!;
  const found = SOURCES.filter((source) => basename(source) === file).flatMap((source) =>
    [...textOf(source).matchAll(new RegExp(`\\bconst ${name}\\b[^=]*= (\\{[^}]*\\}|[^;]*);?`, 'g'))].map(
      (match) => match[1]!,
    ),
  );
  expect(found, `constants ${where}`).toHaveLength(1);
  const expression =
    key === undefined ? found[0]! : new RegExp(`(?<=[{\\n,] *)'?${key}'?: ([^,}]*)`).exec(found[0]!)?.[1];
  const [factors, shift = '0'] = expression!.replaceAll('_', '').split('<<');
  return factors!.split('*').reduce((product, factor) => product * Number(factor), 2 ** Number(shift));
}

const UNITS: Record<string, number> = { KiB: 1_024, MiB: 1_048_576, s: 1, min: 60, days: 86_400 };

test('the limits in docs/operating.md are the constants of the code', () => {
  const rows = rowsBehind('docs/operating.md', '## Limits');
  expect(rows.length).toBeGreaterThan(50);
  const wrong = rows.flatMap(([what, is, constant]) => {
    const where = constant!.replaceAll('`', '');
    const [number, unit = ''] = is!.split(' ');
    const value = Number(number!.replaceAll(',', '')) * (UNITS[unit] ?? 1) * (where.endsWith('_MS') ? 1_000 : 1);
    return value === constantOf(where) ? [] : [`${what}: ${is}, but ${where} is ${constantOf(where)}`];
  });
  expect(wrong).toEqual([]);
});

/** The limits of a lane or a pool: its numbers, in MiB where they are bytes of a pool. */
function limitsOf(row: object): string {
  return Object.entries(row)
    .filter((entry): entry is [string, number] => typeof entry[1] === 'number')
    .map(([limit, value]) =>
      limit.startsWith('maxBytes') ? `${limit} ${value / UNITS['MiB']!} MiB` : `${limit} ${value.toLocaleString('en')}`,
    )
    .join(', ');
}

test('the lanes in docs/operating.md are those of the scheduler', () => {
  const expected = Object.values(LANES).map((row) => [row.name, row.runs, limitsOf(row)]);
  expect(rowsBehind('docs/operating.md', '## Lanes')).toEqual(expected);
});

test('the pools in docs/operating.md are those of the scheduler', () => {
  const expected = Object.values(POOLS).map((row) => [row.name, row.holds, limitsOf(row)]);
  expect(rowsBehind('docs/operating.md', '## Memory')).toEqual(expected);
});

test('every link of a page leads somewhere', () => {
  const anchorsOf = (page: string): string[] =>
    [...textOf(page).matchAll(/^#+ (.*)$/gm)].map((match) =>
      match[1]!
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    );
  const dead = PAGES.flatMap((page) =>
    [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)]
      .map((match) => match[1]!)
      .filter((target) => !/^[a-z]+:/.test(target))
      .filter((target) => {
        const [path, anchor] = target.split('#');
        const file = path === '' ? page : join(dirname(page), path!);
        return !existsSync(join(ROOT, file)) || (anchor !== undefined && !anchorsOf(file).includes(anchor));
      })
      .map((target) => `${page}: ${target}`),
  );
  expect(dead).toEqual([]);
});

test('the README is short and leads to every page', () => {
  const readme = textOf('README.md');
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  const pages = PAGES.filter((page) => dirname(page) === 'docs');
  expect(pages.filter((page) => !readme.includes(`(${page})`))).toEqual([]);
});

test('the tree in docs/architecture.md has every room', () => {
  const tree = /## The tree\n+```\n([^]*?)```/.exec(textOf('docs/architecture.md'))![1]!;
  const named = (line: string): string[] =>
    [...line.matchAll(/(?<![\w-])([\w-]+)\/(?=[ ,]|$)/g)].map((match) => match[1]!);
  const lines = tree.split('\n').map((line) => line.slice(0, 26));
  const inDomain = lines.filter((line) => line.startsWith('  ')).flatMap(named);
  const inSrc = lines.filter((line) => line.startsWith('src/')).map((line) => /^src\/([\w-]+)\//.exec(line)?.[1]);
  const folders = (path: string): string[] =>
    readdirSync(join(ROOT, path), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  expect(inDomain.toSorted()).toEqual(folders('src/domain').toSorted());
  expect(inSrc.filter((name) => name !== undefined).toSorted()).toEqual(folders('src').toSorted());
});

test('files that pages name are there', () => {
  const dead = PAGES.filter((page) => page !== 'docs/contract.md').flatMap((page) =>
    [...textOf(page).matchAll(/`((?:src|test|deploy|build|\.ci)\/[\w./-]+)`/g)]
      .map((match) => match[1]!)
      .filter((path) => !existsSync(join(ROOT, path)))
      .map((path) => `${page}: ${path}`),
  );
  expect(dead).toEqual([]);
});
