import { join } from 'node:path';

/** The folder of `main`: `src`, or where the build puts it. */
export const PROGRAM_FOLDER = import.meta.dirname;

/**
 * Path of a program or worker, named by its path in `src` without extension: TypeScript as it is, or from the build.
 */
export function programFile(path: string): string {
  return join(PROGRAM_FOLDER, `${path}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`);
}
