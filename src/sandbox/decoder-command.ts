import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { programFile } from '../program-file.ts';

/** Maximum isolates per process, of some 5 MB each. */
const MAX_ISOLATES = 64;
/** Maximum memory of all isolates of a process but the one that ran last. */
const MAX_HEAPS_MB = 400;

/**
 * Command that starts `decoder.worker` (or `worker`), which may read only its own folder, the two modules that it
 * imports from elsewhere, and isolated-vm.
 */
export function decoderCommand(memoryMb: number, worker?: string): { command: string; args: string[] } {
  const own = programFile('sandbox/decoder.worker');
  const require = createRequire(import.meta.url);
  const addon = dirname(require.resolve('isolated-vm/package.json'));
  const loader = dirname(createRequire(join(addon, 'package.json')).resolve('node-gyp-build/package.json'));
  const imported = ['domain/text/device-identity', 'must'].map(programFile);
  const readable = [dirname(own), ...imported, addon, loader, '/etc/alpine-release'];
  // Node reads the package.json files above a module to know its type.
  for (let folder = dirname(own); folder !== dirname(folder); folder = dirname(folder)) {
    const description = join(folder, 'package.json');
    if (existsSync(description)) readable.push(description);
  }
  const args = ['--no-node-snapshot', '--no-warnings', '--v8-pool-size=1', '--permission', '--allow-addons'];
  for (const path of readable) args.push(`--allow-fs-read=${path}`);
  if (worker !== undefined) args.push(`--allow-fs-read=${worker}`);
  args.push(worker ?? own, String(memoryMb), String(MAX_ISOLATES), String(MAX_HEAPS_MB), addon);
  return { command: process.execPath, args };
}
