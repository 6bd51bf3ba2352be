#!/usr/bin/env node
// `inlet <command>`: the server and what its operator needs beside it, from what `npm run build` made.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const dist = join(dirname(fileURLToPath(import.meta.url)), '..', 'dist', 'src');
if (process.argv[2] === 'start') {
  // V8's flags belong on the command line; this process becomes the server.
  const flags = JSON.parse(readFileSync(join(dist, 'v8-flags.json'), 'utf8'));
  process.emitWarning = () => {};
  process.execve(process.execPath, [process.execPath, ...flags, join(dist, 'main.js')], process.env);
}
await import(join(dist, 'cli', 'inlet.js'));
