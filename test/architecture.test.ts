import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'vite';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The rooms a room's files may import from, itself and those for everybody aside (docs/architecture.md). */
const MAY_IMPORT: Record<string, string[]> = {
  'main.ts': ['app.ts', 'config.ts', 'workers'],
  workers: ['config.ts', 'http', 'listen.ts', 'log.ts'],
  'listen.ts': ['config.ts'],
  'app.ts': ['*'],
  cli: ['bootstrap.ts', 'config.ts', 'database', 'domain', 'yaml'],
  'build-alerts.ts': ['*'],
  'build-domain.ts': ['*'],
  'build-outgoing.ts': ['*'],
  'build-configuration.ts': ['*'],
  'build-installation.ts': ['*'],
  'build-mqtt.ts': ['*'],
  'bootstrap.ts': ['domain'],
  'build-transports.ts': ['*'],
  'build-metrics.ts': ['*'],
  'log.ts': ['config.ts'],
  'config.ts': ['database-settings.ts', 'domain', 'map-tile-settings.ts', 'mqtt-settings.ts'],
  'database-settings.ts': [],
  'mqtt-settings.ts': [],
  'map-tile-settings.ts': [],
  'closers.ts': [],
  'errors.ts': [],
  'must.ts': [],
  'program-file.ts': [],
  http: ['domain', 'scheduling'],
  graphql: ['domain', 'scheduling'],
  mqtt: ['domain', 'scheduling', 'mqtt-settings.ts'],
  sandbox: ['domain', 'scheduling'],
  yaml: ['domain', 'scheduling'],
  transmission: ['domain', 'scheduling'],
  cluster: ['domain', 'scheduling'],
  'measurement-store': ['domain', 'database', 'scheduling'],
  database: ['domain', 'migrations', 'scheduling'],
  metrics: ['domain', 'scheduling'],
  domain: ['scheduling'],
  // Who runs next: the ground floor.
  scheduling: [],
  // A program of its own, in the browser: it and the server know nothing of each other.
  console: [],
};

const FOR_EVERYBODY = ['errors.ts', 'must.ts', 'program-file.ts'];

/** Packages that only these rooms may know. */
const PACKAGES: Record<string, string[]> = {
  'isolated-vm': ['sandbox'],
  'mqtt-packet': ['mqtt'],
  mqtt: ['mqtt'],
  koa: ['http', 'graphql'],
  'jsonc-parser': ['domain'],
  '@koa/router': ['http'],
  graphql: ['graphql'],
  'type-graphql': ['graphql'],
  '@apollo/server': ['graphql'],
  'graphql-ws': ['graphql', 'console'],
  preact: ['console'],
  'preact/hooks': ['console'],
  uplot: ['console'],
  '@codemirror/state': ['console'],
  '@codemirror/view': ['console'],
  ws: ['graphql'],
  redis: ['cluster'],
  yaml: ['yaml'],
  nodemailer: ['transmission'],
  '@prometheus-io/client': ['metrics'],
  'better-sqlite3': ['measurement-store', 'database'],
  pg: ['measurement-store', 'database'],
};

const LONGEST_FILE = 350;

/** The share of comments that may begin with a clause without a subject (docs/code-style.md). */
const MOST_CLAUSES = 0.05;

/** Type assertions by way of `unknown`, in the server. */
const MAX_FORCED_CASTS = 5;
/** Values that are claimed to be there (`!`), per thousand lines of the server. */
const MAX_CLAIMS = 3;
/** Maximum private fields of a class, functions aside; and classes with more. */
const MAX_FIELDS = 8;
const MAX_LARGE_CLASSES = 10;

interface Import {
  file: string;
  /** A package, or the path of a file from the root of the repository. */
  target: string;
  /** null: all of it (`import('…')`, `* as`). */
  names: string[] | null;
}

/** By build/console-operations.ts. */
function isWritten(file: string): boolean {
  return file.endsWith('.graphql.ts') || file.endsWith('api/schema-types.ts');
}

function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !isWritten(file))
    .map((file) => `${folder}/${file}`)
    .toSorted();
}

const IMPORT = /^(?:import|export)\b([^'"`;]*?)\bfrom\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'/gm;

function importsOf(file: string): Import[] {
  return [...texts.get(file)!.matchAll(IMPORT)].map(([, clause = '', from, bare, dynamic]) => {
    const target = from ?? bare ?? dynamic!;
    return {
      file,
      target: target.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(file), target)) : target,
      names:
        dynamic !== undefined || /\*\s+as\b/.test(clause)
          ? null
          : [...clause.matchAll(/[{,]\s*(?:type\s+)?([\w$]+)/g)].map((match) => match[1]!),
    };
  });
}

interface Export {
  file: string;
  name: string;
  /** What stands before it in its file, and on its line and the next. */
  before: string;
  after: string;
}

const EXPORT =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:const|let|function\*?|class|interface|type|enum)\s+([\w$]+)/gm;

function exportsOf(file: string): Export[] {
  const text = texts.get(file)!;
  return [...text.matchAll(EXPORT)].map((match) => {
    const after = text.slice(match.index).split('\n', 4).join(' ');
    return { file, name: match[1]!, before: text.slice(0, match.index), after };
  });
}

/**
 * A comment of three words or more that ends where the export, or its decorators, begin. What stands in the GraphQL
 * schema says it there: in the description of its decorator, or in the text that an enum is made with.
 */
function hasSentence({ before, after }: Export): boolean {
  if (
    /\bdescription:\s/.test(before.slice(before.lastIndexOf('\n\n'))) ||
    /= enumOf\([^']*'[^']+'[^']*["'`]\S+ \S+ \S+/.test(after)
  )
    return true;
  const start = before.lastIndexOf('/**');
  const end = before.indexOf('*/\n', start);
  if (start < 0 || end < 0) return false;
  const decorators = before
    .slice(end + 3)
    .split('\n')
    .slice(0, -1);
  const words = before.slice(start + 3, end).match(/[\w`]+/g) ?? [];
  return words.length >= 3 && decorators.every((line) => /^(?:@|[})\]]| )/.test(line));
}

const COMMENT = /\/\*\*?([^]*?)\*\/|((?:^[ \t]*\/\/.*\n)+)|[ \t]\/\/ (.*)$/gm;

/** The comments of a file, each on one line; `//` lines in a row are one. */
function commentsIn(text: string): string[] {
  return [...text.matchAll(COMMENT)]
    .map(([, block, lines, end]) => (block ?? lines ?? end!).replaceAll(/^[ \t]*(?:\*|\/\/)?/gm, ' '))
    .map((comment) => comment.replaceAll(/\s+/g, ' ').trim())
    .filter((comment) => comment !== '');
}

/** `Whose turn it is`, `Of a token`, `So many wait`, `As it was sent`: none says what the thing is. */
const CLAUSE = /^(?:What|Whatever|Of|Who|Whoever|Whose|Whom|Which|So|As)\b/;

interface Node {
  type: string;
  expression?: Node;
  typeAnnotation?: Node;
  key?: Node;
  value?: Node | null;
  id?: { name: string } | null;
  body?: { body: Node[] };
}

/** Calls `visit` with each node of the file. */
function eachNode(file: string, visit: (node: Node) => void): void {
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if ('type' in node) visit(node as Node);
    for (const child of Object.values(node)) walk(child);
  };
  walk(parseSync(file, texts.get(file)!).program);
}

const src = filesIn('src');
const texts = new Map(
  [...src, ...filesIn('test'), ...filesIn('migrations')].map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]),
);
const imports = [...texts.keys()].flatMap(importsOf);
const inSrc = imports.filter(({ file }) => file.startsWith('src/'));
const exported = src.flatMap(exportsOf);

function roomOf(file: string): string {
  const [top, room] = file.split('/');
  return top === 'src' ? room! : top!;
}

/** Files that stand directly in `src` and `src/console` are rooms of their own: the floors there are files. */
function folderOf(file: string): string {
  const folder = dirname(file);
  return ['src', 'src/console'].includes(folder) ? file : folder;
}

/** The ways from `from` back to itself, found by going on until nothing new is reached. */
function circlesOf(edges: [string, string][]): string[] {
  const next = new Map<string, Set<string>>();
  for (const [from, to] of edges) next.set(from, (next.get(from) ?? new Set()).add(to));
  const reached = (start: string): Set<string> => {
    const seen = new Set<string>();
    const waiting = [...(next.get(start) ?? [])];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (seen.has(at)) continue;
      seen.add(at);
      waiting.push(...(next.get(at) ?? []));
    }
    return seen;
  };
  return [...next.keys()].filter((start) => reached(start).has(start));
}

test('imports run one way, types included', () => {
  const wrong = inSrc
    .filter(({ target }) => /\.tsx?$/.test(target))
    .filter(({ file, target }) => {
      const allowed = MAY_IMPORT[roomOf(file)] ?? [];
      const to = roomOf(target);
      return to !== roomOf(file) && !FOR_EVERYBODY.includes(to) && !allowed.includes('*') && !allowed.includes(to);
    })
    .map(({ file, target }) => `${file} imports ${target}`);
  expect(inSrc.length).toBeGreaterThan(300);
  expect(wrong).toEqual([]);
});

test('no file imports itself over others', () => {
  expect(circlesOf(inSrc.map(({ file, target }) => [file, target]))).toEqual([]);
});

test('no folder imports itself over others', () => {
  const edges = inSrc
    .filter(({ target }) => target.startsWith('src/'))
    .map(({ file, target }): [string, string] => [folderOf(file), folderOf(target)])
    .filter(([from, to]) => from !== to);
  expect(circlesOf(edges)).toEqual([]);
});

test('each foreign package is known only where it belongs', () => {
  const wrong = inSrc
    .filter(({ target }) => target in PACKAGES)
    .filter(({ file, target }) => !PACKAGES[target]!.includes(roomOf(file)))
    .filter(({ file }) => !['src/app.ts', 'src/build-transports.ts'].includes(file))
    .map(({ file, target }) => `${file} imports ${target}`);
  expect(wrong).toEqual([]);
});

test('only config.ts and main.ts read the environment', () => {
  const wrong = src
    .filter((file) => !['src/config.ts', 'src/main.ts', 'src/cli/inlet.ts'].includes(file))
    .filter((file) => texts.get(file)!.includes('process.env'));
  expect(wrong).toEqual([]);
});

test('what is exported is imported somewhere, under its own name and from its own file', () => {
  const used = new Set(imports.flatMap(({ target, names }) => (names ?? ['*']).map((name) => `${target} ${name}`)));
  const dead = exported
    .filter(({ file, name }) => !used.has(`${file} ${name}`) && !used.has(`${file} *`))
    .map(({ file, name }) => `${file}: ${name}`);
  const barrels = src.filter((file) => /^export\s+(?:default\b|\*|(?:type\s+)?\{)/m.test(texts.get(file)!));
  expect(exported.length).toBeGreaterThan(150);
  expect(dead).toEqual([]);
  expect(barrels).toEqual([]);
});

test('what is exported promises something in a sentence', () => {
  const silent = exported.filter((one) => !hasSentence(one)).map(({ file, name }) => `${file}: ${name}`);
  expect(silent).toEqual([]);
});

test('comments begin with a verb or the thing itself', () => {
  const comments = src.flatMap((file) => commentsIn(texts.get(file)!).map((comment) => `${file}: ${comment}`));
  const clauses = comments.filter((comment) => CLAUSE.test(comment.slice(comment.indexOf(': ') + 2)));
  const [some, share] = [clauses.slice(0, 20).join('\n'), clauses.length / comments.length];
  expect(comments.length).toBeGreaterThan(4_000);
  expect(share, `${clauses.length} of ${comments.length}, such as\n${some}\n`).toBeLessThanOrEqual(MOST_CLAUSES);
});

test('no file lies loose in the domain', () => {
  expect(src.filter((file) => dirname(file) === 'src/domain')).toEqual([]);
});

test(`no file has more than ${LONGEST_FILE} lines`, () => {
  const long = src.filter((file) => texts.get(file)!.trimEnd().split('\n').length > LONGEST_FILE);
  expect(long).toEqual([]);
});

test('types are seldom forced, values seldom claimed, and few classes have many fields', () => {
  const server = src.filter((file) => !file.startsWith('src/console/') && !file.endsWith('.test.ts'));
  const lines = server.reduce((sum, file) => sum + texts.get(file)!.split('\n').length - 1, 0);
  const [casts, claims, large]: [string[], string[], string[]] = [[], [], []];
  for (const file of server)
    eachNode(file, ({ type, expression, id, body }) => {
      if (type === 'TSNonNullExpression') claims.push(file);
      if (type === 'TSAsExpression' && expression?.typeAnnotation?.type === 'TSUnknownKeyword') casts.push(file);
      if (type !== 'ClassDeclaration') return;
      const fields = body!.body.filter(
        ({ type: kind, key, value }) =>
          kind === 'PropertyDefinition' &&
          key?.type === 'PrivateIdentifier' &&
          value?.type !== 'ArrowFunctionExpression',
      );
      if (fields.length > MAX_FIELDS) large.push(`${file}: ${id?.name} has ${fields.length}`);
    });
  expect(claims.length).toBeGreaterThan(0);
  expect(casts.length, casts.join('\n')).toBeLessThanOrEqual(MAX_FORCED_CASTS);
  expect((1_000 * claims.length) / lines).toBeLessThanOrEqual(MAX_CLAIMS);
  expect(large.length, large.join('\n')).toBeLessThanOrEqual(MAX_LARGE_CLASSES);
});
