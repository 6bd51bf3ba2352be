import { join } from 'node:path';

export { PROGRAM_FOLDER, programVersion } from '../../src/program-file.ts';

/** `programFile` of what the tests import: threads and processes of the build start in a third of the time. */
export function programFile(path: string): string {
  return join(import.meta.dirname, '../../dist/src', `${path}.js`);
}
