import { join } from 'node:path';

/** The folder of `main`: `src`, or where the build puts it. */
export const PROGRAM_FOLDER = import.meta.dirname;

/** The file of a program or worker, by its path in `src` without extension: TypeScript as it is, or from the build. */
export function programFile(path: string): string {
  return join(PROGRAM_FOLDER, `${path}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`);
}
