import { existsSync } from 'node:fs';
import type { CommandInput } from './command.ts';

/** The command's one file; throws when there is none. */
export function fileArgument({ args }: Pick<CommandInput, 'args'>): string {
  const [file] = args;
  if (file === undefined || file === '' || args.length > 1) throw new Error('expected one FILE');
  return file;
}

/** Throws when the path exists. */
export function mustBeFree(path: string): void {
  if (existsSync(path)) throw new Error(`${path} is there already`);
}

/** Throws when the path does not exist. */
export function mustExist(path: string): void {
  if (!existsSync(path)) throw new Error(`there is no file ${path}`);
}
