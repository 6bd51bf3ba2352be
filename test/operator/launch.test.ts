import { isAscii } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'inlet-launch-'));
  mkdirSync(join(root, 'src'));
  cpSync('src/launch.mjs', join(root, 'src/launch.mjs'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A lock file that names one package in this version, and what npm notes of an installation of it. */
function lockFile(version: string): string {
  const koa = { version, resolved: `http://127.0.0.1:1/koa-${version}.tgz` };
  const packages = { '': { name: 'x', dependencies: { koa: version } }, 'node_modules/koa': koa };
  return JSON.stringify({ name: 'x', lockfileVersion: 3, requires: true, packages });
}
function project(version: string): void {
  writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'x', dependencies: { koa: version } }));
  writeFileSync(join(root, 'package-lock.json'), lockFile(version));
  for (const name of ['package.json', 'package-lock.json']) utimesSync(join(root, name), 1, 1);
}
function installed(version: string): void {
  mkdirSync(join(root, 'node_modules/koa'), { recursive: true });
  writeFileSync(join(root, 'node_modules/koa/index.js'), version);
  writeFileSync(join(root, 'node_modules/.package-lock.json'), lockFile(version));
}
/** The launcher with npm's own registry out of reach. */
function build(node = process.execPath): { status: number | null; stderr: string } {
  return spawnSync(node, ['src/launch.mjs', 'build'], {
    cwd: root,
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      HOME: root,
      npm_config_registry: 'http://127.0.0.1:1/',
      npm_config_fetch_retries: '0',
    },
  });
}

test('what is installed is compared by content, not by time, and left alone when it is right', () => {
  project('1.0.0');
  installed('1.0.0');
  expect(build()).toMatchObject({ status: 0, stderr: '' });
  expect(existsSync(join(root, 'node_modules/.inlet-installed'))).toBe(true);
});

test('a newer lock file with an older time is noticed; without a network what worked stays and goes on', () => {
  project('2.0.0');
  installed('1.0.0');
  const { status, stderr } = build();
  expect(status).toBe(0);
  expect(stderr).toContain('installing dependencies');
  expect(stderr).toMatch(/going on with what is there: .*ECONNREFUSED/);
  expect(readFileSync(join(root, 'node_modules/koa/index.js'), 'utf8')).toBe('1.0.0');
  expect(existsSync(join(root, 'node_modules/.inlet-installed'))).toBe(false);
  expect(readdirSync(root).filter((name) => name.startsWith('.inlet'))).toEqual([]);
});

test('a first start without a network says so once, and ends', () => {
  project('1.0.0');
  const { status, stderr } = build();
  expect(status).toBe(1);
  expect(stderr.match(/npm could not install/g)).toHaveLength(1);
  expect(stderr.match(/ECONNREFUSED/g)!.length).toBeLessThanOrEqual(3);
});

test('a lock whose owner is gone holds nobody up', () => {
  project('1.0.0');
  installed('1.0.0');
  const gone = spawnSync(process.execPath, ['-e', '']).pid;
  writeFileSync(join(root, '.inlet-lock'), String(gone));
  expect(build().status).toBe(0);
  expect(existsSync(join(root, '.inlet-lock'))).toBe(false);
});

test('an installation is replaced whole, and keeps the Node of it that runs', () => {
  const { node: version } = process.versions;
  const own = join(root, 'node_modules/node/bin/node');
  mkdirSync(join(root, 'node_modules/node/bin'), { recursive: true });
  cpSync(process.execPath, own);
  const optionalDependencies = { node: version };
  writeFileSync(join(root, 'package.json'), JSON.stringify({ name: 'x', optionalDependencies }));
  const node = { version, resolved: `http://127.0.0.1:1/node-${version}.tgz`, optional: true };
  const packages = { '': { name: 'x', optionalDependencies }, 'node_modules/node': node };
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ name: 'x', lockfileVersion: 3, packages }));
  expect(build(own)).toMatchObject({ status: 0, stderr: expect.stringContaining('installing dependencies') });
  expect(existsSync(join(root, 'node_modules/.inlet-installed'))).toBe(true);
  expect(spawnSync(own, ['--version'], { encoding: 'utf8' }).stdout.trim()).toBe(`v${version}`);
});

test('what is built has no character outside ASCII: V8 keeps it in one byte a character', () => {
  const built = readdirSync('dist/src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
  const wide = built.filter((name) => !isAscii(readFileSync(join('dist/src', name))));
  expect(built).toContain('main.js');
  expect(wide).toEqual([]);
});
