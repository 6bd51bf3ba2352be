import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a missing folder (mode 0700) and those above it. Node's recursive option never returns where a file system
 * refuses with ENOENT (/proc, an automounter without the disk).
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}
