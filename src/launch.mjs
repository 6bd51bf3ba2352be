// What every npm script starts with: installs and builds whatever is missing, then does its job on Node 24. Plain
// JavaScript without dependencies, because on a fresh clone there is nothing else, and the machine's Node may be old.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [task = 'start', ...args] = process.argv.slice(2);
const NODE_MAJOR = 24;
// As in package.json: a small young generation keeps the server small, for a few percent of its speed.
const SERVER_FLAGS = ['--max-semi-space-size=8'];

const bin = (path) => join(root, 'node_modules', path);
const TSC = bin('typescript/bin/tsc');
const VITEST = bin('vitest/vitest.mjs');
const PRETTIER = bin('prettier/bin/prettier.cjs');
const OXLINT = bin('oxlint/bin/oxlint');
const TSX = bin('tsx/dist/cli.mjs');
const FORMATTED = ['src', 'migrations', 'test', '*.ts', '*.json'];

const tasks = {
  start: () => start(),
  test: () => (build(), run([VITEST, 'run', ...args])),
  dev: () => (build(), run([TSX, 'watch', '--clear-screen=false', 'src/main.ts', ...args])),
  build: () => build(),
  check: () => {
    run([PRETTIER, '--check', '--log-level', 'warn', ...FORMATTED]);
    run([OXLINT, '--type-aware', '--deny-warnings', 'src', 'migrations', 'test']);
    run([TSC, '-p', 'tsconfig.json', '--noEmit']);
    run([TSC, '-p', 'test/tsconfig.json']);
    build();
    run(['dist/src/graphql/print-schema.js', '--check']);
  },
  format: () => run([PRETTIER, '--write', '--log-level', 'warn', ...FORMATTED]),
  bench: () => (build(), run([TSX, 'test/bench/main.ts', ...args])),
  schema: () => (build(), run(['dist/src/graphql/print-schema.js', ...args])),
};

const chosen = tasks[task];
if (chosen === undefined) fail(`unknown task "${task}"; there are: ${Object.keys(tasks).join(', ')}`);
process.chdir(root);
install();
await chosen();

function install() {
  const stamp = bin('.inlet-installed');
  const wanted = hashOf(['package.json', 'package-lock.json']);
  if (read(stamp) === wanted) return;
  // Somebody ran npm by hand after the lock file was written: that is as good.
  if (
    olderThan('package-lock.json', bin('.package-lock.json')) &&
    olderThan('package.json', bin('.package-lock.json'))
  ) {
    writeFileSync(stamp, wanted);
    return;
  }
  say('installing dependencies');
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const attempt = (...words) =>
    spawnSync(npm[0], [...npm.slice(1), ...words, '--no-audit', '--no-fund', '--loglevel=error'], {
      stdio: ['ignore', 2, 2],
    }).status === 0;
  // A registry mirror may lack another platform's optional binaries; `npm ci` insists, `npm install` does not.
  if (!attempt('ci') && !attempt('install', '--no-save')) fail('npm could not install; its messages are above');
  writeFileSync(stamp, wanted);
}

function build() {
  if (!existsSync('src/main.ts')) return;
  const stamp = join('dist', '.built');
  const wanted = hashOf(['package-lock.json', 'tsconfig.json', ...files('src'), ...files('migrations')]);
  if (read(stamp) === wanted) return;
  say('building');
  // Beside the old one: a build that fails leaves what worked.
  const fresh = `dist-${process.pid}`;
  run([TSC, '-p', 'tsconfig.json', '--outDir', fresh], () => rmSync(fresh, { recursive: true, force: true }));
  writeFileSync(join(fresh, '.built'), wanted);
  rmSync('dist', { recursive: true, force: true });
  renameSync(fresh, 'dist');
}

async function start() {
  build();
  const main = join(root, 'dist/src/main.js');
  // The usual case needs no second process.
  if (isRightNode(process.versions.node)) await import(main);
  else runForwarding([...SERVER_FLAGS, main, ...args]);
}

/** Node 24: this process's own, else the one that npm installed. */
function node() {
  if (isRightNode(process.versions.node)) return process.execPath;
  const installed = bin('node/bin/node');
  if (existsSync(installed)) return installed;
  return fail(`Inlet needs Node ${NODE_MAJOR}, this is ${process.version}; run "npm ci" to install it beside the code`);
}

function isRightNode(version) {
  return Number(version.split('.')[0]) === NODE_MAJOR;
}

function environment() {
  return { ...process.env, PATH: [dirname(node()), bin('.bin'), process.env.PATH].join(delimiter) };
}

function run(command, beforeFailing = () => {}) {
  const result = spawnSync(node(), command, { stdio: 'inherit', env: environment() });
  if (result.status === 0) return;
  beforeFailing();
  process.exit(result.status ?? 1);
}

function runForwarding(command) {
  const child = spawn(node(), command, { stdio: 'inherit', env: environment() });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
}

function files(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

function hashOf(paths) {
  const hash = createHash('sha256');
  for (const path of paths)
    hash
      .update(path)
      .update('\0')
      .update(read(path) ?? '')
      .update('\0');
  return hash.digest('hex');
}

function olderThan(path, than) {
  return existsSync(path) && existsSync(than) && statSync(path).mtimeMs <= statSync(than).mtimeMs;
}

function read(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : null;
}

function say(text) {
  process.stderr.write(`inlet: ${text}…\n`);
}

function fail(text) {
  process.stderr.write(`inlet: ${text}\n`);
  process.exit(1);
}
