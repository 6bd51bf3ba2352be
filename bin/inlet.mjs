#!/usr/bin/env node
// `inlet <command>`: the server and what its operator needs beside it, from what `npm run build` made. Plain JavaScript,
// because the machine's Node may be old: the database's library would crash it.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR = 24;
const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist', 'src');
const installedNode = join(root, 'node_modules', 'node', 'bin', 'node');

if (!existsSync(dist)) fail('nothing is built yet: run "npm run build" first');
else if (Number(process.versions.node.split('.')[0]) !== NODE_MAJOR) handOver();
else {
  if (process.argv[2] === 'start' && !process.argv.includes('--help')) becomeServer();
  await import(join(dist, 'cli', 'inlet.js'));
}

/** V8's flags belong on the command line; this process becomes the server. */
function becomeServer() {
  const flags = JSON.parse(readFileSync(join(dist, 'v8-flags.json'), 'utf8'));
  process.emitWarning = () => {};
  process.execve(process.execPath, [process.execPath, ...flags, join(dist, 'main.js')], process.env);
}

/** To the Node that npm installed beside the code. */
function handOver() {
  if (!existsSync(installedNode))
    return fail(
      `Inlet needs Node ${NODE_MAJOR}, this is ${process.version}; "npm run build" installs it beside the code`,
    );
  const child = spawn(installedNode, process.argv.slice(1), { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
}

function fail(text) {
  console.error(`inlet: ${text}`);
  process.exitCode = 1;
}
