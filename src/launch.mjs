// Runs every npm script: installs and builds whatever is missing, then does its job on Node 24. Plain JavaScript
// without dependencies, because a fresh clone has nothing else, and the machine's Node may be old.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const [task = 'start', ...args] = process.argv.slice(2);
const NODE_MAJOR = 24;
const LOCK_MS = 600_000;
const PLATFORM = process.platform === 'win32' ? 'win' : process.platform;
const OFFLINE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH/;

const bin = (path) => join(root, 'node_modules', path);
const TSC = bin('typescript/bin/tsc');
const VITEST = bin('vitest/vitest.mjs');
const OXFMT = bin('oxfmt/bin/oxfmt');
const OXLINT = bin('oxlint/bin/oxlint');
const TSX = bin('tsx/dist/cli.mjs');
const VITE = bin('vite/bin/vite.js');
const LINTED = ['build', 'src', 'migrations', 'test', 'vitest.config.ts'];
// Named, as oxfmt takes '*.ts' for the files of all folders.
const FORMATTED = [...LINTED, 'package.json', 'tsconfig.json', '.oxlintrc.json', '.oxfmtrc.json'];

const tasks = {
  start: () => start(),
  test: () => test(),
  'test:timed': () => {
    process.env.INLET_TESTS = 'timed';
    test();
  },
  'test:nightly': () => {
    process.env.INLET_TESTS = 'nightly';
    test();
  },
  dev: () => {
    process.env.NODE_ENV ??= 'development';
    build();
    run([...serverFlags(), TSX, 'watch', '--clear-screen=false', 'src/main.ts', ...args]);
  },
  build: () => build(),
  check: () => {
    build();
    return runTogether([
      [OXFMT, '--list-different', ...FORMATTED],
      // TypeScript's own diagnostics come with the types that the rules need: each project is read once.
      [OXLINT, '--type-aware', '--type-check', '--deny-warnings', ...LINTED],
      ['dist/src/graphql/print-schema.js', '--check'],
      ['build/console-operations.ts', '--check'],
      ['build/console-texts.ts', '--check'],
    ]);
  },
  format: () => run([OXFMT, ...FORMATTED]),
  bench: () => (build(), run([TSX, 'test/bench/main.ts', ...args])),
  corpus: () => run([TSX, 'test/corpus/main.ts', ...args]),
  fuzz: () => (build(), run([TSX, 'test/fuzz/main.ts', ...args])),
  soak: () => (build(), run([TSX, 'test/soak/main.ts', ...args])),
  schema: () => {
    build();
    run(['dist/src/graphql/print-schema.js', ...args]);
    run(['build/console-operations.ts', ...args]);
    run(['build/console-texts.ts', ...args]);
  },
};

const chosen = Object.hasOwn(tasks, task) ? tasks[task] : undefined;
if (chosen === undefined) fail(`unknown task "${task}"; there are: ${Object.keys(tasks).join(', ')}`);
process.chdir(root);
// A production installation (npm ci --omit=dev) cannot build; it starts what was built elsewhere.
const isProduction = task === 'start' && !existsSync(TSC) && existsSync('dist/src/main.js') && existsSync(bin('koa'));
if (!isProduction) {
  const unlock = lock();
  install();
  if (!['start', 'test', 'test:timed', 'test:nightly'].includes(task)) unlock();
  else {
    build();
    unlock();
  }
}
await chosen();

function install() {
  const stamp = bin('.inlet-installed');
  const wanted = hashOf(['package.json', 'package-lock.json']);
  if (read(stamp) === wanted) return;
  // npm was run by hand: good enough if it installed what the lock file says.
  if (isInstalled()) {
    writeFileSync(stamp, wanted);
    return;
  }
  say('installing dependencies');
  // Installs aside and moves it at once: a failed installation leaves what worked.
  const aside = join(root, `.inlet-install-${process.pid}`);
  const away = `${aside}-old`;
  try {
    mkdirSync(aside);
    for (const file of ['package.json', 'package-lock.json']) copyFileSync(file, join(aside, file));
    const failure = npmInstall(aside);
    if (failure !== null) {
      if (!existsSync(bin('koa'))) fail(`npm could not install: ${failure}`);
      process.stderr.write(`inlet: npm could not install, going on with what is there: ${failure}\n`);
      return;
    }
    writeFileSync(join(aside, 'node_modules', '.inlet-installed'), wanted);
    if (existsSync('node_modules')) renameSync('node_modules', away);
    renameSync(join(aside, 'node_modules'), 'node_modules');
  } finally {
    for (const folder of [aside, away]) rmSync(folder, { recursive: true, force: true });
  }
}

/** Installs into the folder; returns null, or one line with the failure. */
function npmInstall(folder) {
  const { allowScripts = {}, optionalDependencies = {} } = JSON.parse(read(join(folder, 'package.json')));
  // Old npm versions leave out what their Node is too old for, and run every script of a package. So npm runs on Node
  // 24, and then only the allowed scripts.
  // One that was installed here goes with what was installed: it is kept, or another one is fetched.
  const own = existsSync(bin('node/bin/node')) && realpathSync(bin('node/bin/node')) === realpathSync(process.execPath);
  const isKept = own && process.versions.node === optionalDependencies.node;
  const fetched =
    isKept || (isRightNode(process.versions.node) && !own)
      ? null
      : `node-${PLATFORM}-${process.arch}@${optionalDependencies.node}`;
  const home = join(folder, 'node');
  if (fetched !== null && optionalDependencies.node !== undefined) {
    mkdirSync(home);
    // Makes it a project of its own, or npm would look for one further up.
    writeFileSync(join(home, 'package.json'), '{}');
    const failure = npm(process.execPath, home, ['install', '--no-save', '--no-package-lock', fetched]);
    if (failure !== null) return failure;
  }
  const binary = join(home, 'node_modules', String(fetched).split('@', 1)[0], 'bin', 'node');
  const node = existsSync(binary) ? binary : process.execPath;
  // A registry mirror may lack another platform's optional binaries; `npm ci` insists, `npm install` does not.
  let failure = npm(node, folder, ['ci']);
  // Without a network a second try takes minutes for nothing.
  if (failure !== null && !OFFLINE.test(failure)) failure = npm(node, folder, ['install', '--no-save']);
  if (failure !== null) return failure;
  const allowed = Object.keys(allowScripts).filter((name) => name !== 'node' && allowScripts[name] === true);
  const there = allowed.filter((name) => existsSync(join(folder, 'node_modules', name)));
  if (there.length > 0) failure = npm(node, folder, ['rebuild', '--no-ignore-scripts', ...there]);
  if (isKept || node === binary) {
    mkdirSync(join(folder, 'node_modules/node/bin'), { recursive: true });
    if (isKept) copyFileSync(process.execPath, join(folder, 'node_modules/node/bin/node'));
    else renameSync(binary, join(folder, 'node_modules/node/bin/node'));
  }
  rmSync(home, { recursive: true, force: true });
  return failure;
}

/** Runs npm with that Node; returns null, or what it printed when it failed. */
function npm(node, folder, words) {
  const cli = process.env.npm_execpath;
  const [file, ...before] = cli ? [node, cli] : ['npm'];
  const patience = ['--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000'];
  const options = ['--no-audit', '--no-fund', '--loglevel=error', ...patience];
  if (!words.includes('--no-ignore-scripts')) options.push('--ignore-scripts');
  const env = { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) };
  const command = [...before, ...words, ...options];
  const result = spawnSync(file, command, { cwd: folder, env, stdio: ['ignore', 2, 'pipe'], encoding: 'utf8' });
  if (result.status === 0) return null;
  const said = result.error ? result.error.message : result.stderr;
  return said
    .replace(/^npm (?:error|ERR!)\s*/gm, '')
    .replace(/\s*\n\s*/g, ' ')
    .slice(0, 500);
}

/** Whether every package of the lock file for this platform is installed in that version. */
function isInstalled() {
  const locked = packagesOf('package-lock.json');
  const there = packagesOf(bin('.package-lock.json'));
  if (locked === null || there === null) return false;
  return Object.entries(locked).every(
    ([path, { version, optional }]) =>
      path === '' || (there[path] === undefined ? optional === true : there[path].version === version),
  );
}

function packagesOf(path) {
  try {
    return JSON.parse(read(path)).packages;
  } catch {
    return null;
  }
}

/** Lets one launcher at a time install and build; the others wait. A lock whose owner is gone is removed. */
function lock() {
  const path = join(root, '.inlet-lock');
  for (const until = Date.now() + LOCK_MS; ;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      process.on('exit', () => owner(path) === process.pid && rmSync(path, { force: true }));
      return () => rmSync(path, { force: true });
    } catch (error) {
      if (error.code === 'EROFS' || error.code === 'EACCES') return () => {};
      if (error.code !== 'EEXIST') throw error;
    }
    const pid = owner(path);
    if (pid !== null && !isAlive(pid)) rmSync(path, { force: true });
    else if (Date.now() > until)
      fail(`another launcher (process ${pid}) has been busy for minutes; if not, delete ${path}`);
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  }
}

function owner(path) {
  const pid = Number(read(path));
  return pid > 0 ? pid : null;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Builds the server, and the console with Vite; of the two only what has changed. */
function build() {
  if (!existsSync('src/main.ts')) return;
  const isOfConsole = (path) => path.startsWith(join('src', 'console'));
  const sources = files('src');
  const parts = [
    {
      stamp: '.built',
      folders: ['src'],
      from: [
        'tsconfig.json',
        'build/server.ts',
        ...sources.filter((path) => !isOfConsole(path)),
        ...files('migrations'),
      ],
      command: (fresh) => ['build/server.ts', join(root, fresh)],
    },
    {
      stamp: '.console-built',
      folders: ['console'],
      from: ['build/console.ts', ...sources.filter(isOfConsole)],
      command: (fresh) => [VITE, 'build', '--config', 'build/console.ts', '--outDir', join(root, fresh, 'console')],
    },
  ].map((part) => ({ ...part, wanted: hashOf(['package-lock.json', ...part.from]) }));
  const isBuilt = ({ stamp, wanted }) => read(join('dist', stamp)) === wanted;
  if (parts.every(isBuilt)) return;
  say('building');
  // Beside the old one: a failed build leaves what worked.
  const fresh = `dist-${process.pid}`;
  for (const part of parts) {
    if (!isBuilt(part)) run(part.command(fresh), () => rmSync(fresh, { recursive: true, force: true }));
    else for (const folder of part.folders) cpSync(join('dist', folder), join(fresh, folder), { recursive: true });
    writeFileSync(join(fresh, part.stamp), part.wanted);
  }
  rmSync('dist', { recursive: true, force: true });
  renameSync(fresh, 'dist');
}

function test() {
  build();
  // Test files and the threads of their stores load the same modules again and again.
  process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'inlet-test-compiled');
  process.env.TMPDIR ??= folderInMemory() ?? tmpdir();
  run([VITEST, 'run', ...args]);
}

/** Folder in memory for the databases of tests, so that none waits for the disk of another; null if memory is short. */
function folderInMemory() {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    const runsNothing = /^\S+ \/dev\/shm \S+ \S*\bnoexec\b/m.test(read('/proc/mounts') ?? '');
    if (runsNothing || bavail * bsize < 8e9 || freemem() < 12e9) return null;
    const folder = mkdtempSync('/dev/shm/inlet-tests-');
    // PostgreSQL's user has to get in.
    chmodSync(folder, 0o755);
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
    return folder;
  } catch {
    return null;
  }
}

function start() {
  if (!isProduction) build();
  const command = [...serverFlags(), join(root, 'dist/src/main.js'), ...args];
  // Usually this process becomes the server, so there is no second one.
  if (typeof process.execve !== 'function') return runForwarding(command);
  process.emitWarning = () => {};
  process.execve(node(), [node(), ...command], environment());
}

/** V8's flags of the server, given on the command line, as Node may crash if they change later. */
function serverFlags() {
  return JSON.parse(read(join(root, 'src/v8-flags.json')) ?? read(join(root, 'dist/src/v8-flags.json')));
}

/** Path of Node 24: this process's own, else the one that npm installed. */
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

/** Runs commands side by side; the others go on after one has failed. */
async function runTogether(commands) {
  const codes = await Promise.all(
    commands.map(
      (command) =>
        new Promise((resolve, reject) => {
          const child = spawn(node(), command, { stdio: 'inherit', env: environment() });
          child.on('error', reject).on('exit', (code) => resolve(code ?? 1));
        }),
    ),
  );
  const failed = codes.find((code) => code !== 0);
  if (failed !== undefined) process.exit(failed);
}

function runForwarding(command) {
  const child = spawn(node(), command, { stdio: 'inherit', env: environment() });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
}

function files(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:tsx?|css|html|svg|json|graphql)$/.test(entry.name))
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
