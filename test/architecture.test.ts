import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

/** The rooms a room's files may import from, itself and `errors.ts` aside (README, architecture). */
const MAY_IMPORT: Record<string, string[]> = {
  'main.ts': ['app.ts', 'config.ts'],
  'app.ts': ['*'],
  'build-domain.ts': ['*'],
  'bootstrap.ts': ['domain'],
  'build-transports.ts': ['*'],
  'log.ts': ['config.ts'],
  'config.ts': [],
  'closers.ts': [],
  'errors.ts': [],
  http: ['domain'],
  graphql: ['domain'],
  sandbox: ['domain'],
  cluster: ['domain'],
  'measurement-store': ['domain'],
  database: ['domain'],
  domain: [],
};

/** Packages that only these rooms may know. */
const PACKAGES: Record<string, string[]> = {
  'isolated-vm': ['sandbox'],
  koa: ['http', 'graphql'],
  '@koa/router': ['http'],
  graphql: ['graphql'],
  'type-graphql': ['graphql'],
  '@apollo/server': ['graphql'],
  'graphql-ws': ['graphql'],
  ws: ['graphql'],
  redis: ['cluster'],
  'better-sqlite3': ['measurement-store', 'database'],
  pg: ['measurement-store', 'database'],
};

interface Import {
  file: string;
  room: string;
  target: string;
  isType: boolean;
}

function imports(): Import[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const text = readFileSync(join(SRC, file), 'utf8');
      const found = [...text.matchAll(/^(?:import|export)\s+(type\s)?[^'"`;]*?from\s+'([^']+)'|import\('([^']+)'\)/gm)];
      return found.map((match) => ({
        file,
        room: file.split('/')[0]!,
        target: (match[2] ?? match[3])!,
        isType: match[1] !== undefined,
      }));
    });
}

const found = imports();

test('imports run one way', () => {
  const wrong = found
    .filter(({ target }) => target.startsWith('.'))
    .flatMap(({ file, room, target, isType }) => {
      const path = relative(SRC, resolve(SRC, dirname(file), target));
      const to = path.split('/')[0]!;
      const allowed = MAY_IMPORT[room] ?? [];
      // Types vanish: who is handed the Database may name it.
      const typeOnly = isType && ['domain', 'graphql'].includes(room) && to === 'database';
      const migrations = room === 'database' && path.startsWith('../migrations');
      const fine = to === room || to === 'errors.ts' || allowed.includes('*') || allowed.includes(to);
      return fine || typeOnly || migrations ? [] : [`${file} imports ${path}`];
    });
  expect(found.length).toBeGreaterThan(300);
  expect(wrong).toEqual([]);
});

test('each foreign package is known only where it belongs', () => {
  const wrong = found
    .filter(({ target }) => target in PACKAGES)
    .filter(
      ({ room, target, file }) =>
        !PACKAGES[target]!.includes(room) && !['app.ts', 'build-transports.ts'].includes(file),
    )
    .map(({ file, target }) => `${file} imports ${target}`);
  expect(wrong).toEqual([]);
});

test('only config.ts and main.ts read the environment', () => {
  const wrong = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !['config.ts', 'main.ts'].includes(file))
    .filter((file) => readFileSync(join(SRC, file), 'utf8').includes('process.env'));
  expect(wrong).toEqual([]);
});
