import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of `main`: `src`, or where the build puts it. */
export const PROGRAM_FOLDER = import.meta.dirname;

/** False for what the build has made. */
const IS_SOURCE = import.meta.url.endsWith('.ts');

/**
 * Path of a program or worker, named by its path in `src` without extension: TypeScript as it is, or from the build.
 */
export function programFile(path: string): string {
  return join(PROGRAM_FOLDER, `${path}${IS_SOURCE ? '.ts' : '.js'}`);
}

/** The version of Inlet, from the package.json beside the sources or the build. */
export function programVersion(): string {
  const file = join(PROGRAM_FOLDER, IS_SOURCE ? '..' : '../..', 'package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
