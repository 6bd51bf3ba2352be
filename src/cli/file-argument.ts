import { existsSync } from 'node:fs';
import type { CommandInput } from './command.ts';

/** The one file that a command is given; throws when there is none. */
export function fileArgument({ args }: Pick<CommandInput, 'args'>): string {
  const [file] = args;
  if (file === undefined || file === '' || args.length > 1) throw new Error('expected one FILE');
  return file;
}

/** Throws when something stands under this name. */
export function mustBeFree(path: string): void {
  if (existsSync(path)) throw new Error(`${path} is there already`);
}

/** Throws when nothing stands under this name. */
export function mustExist(path: string): void {
  if (!existsSync(path)) throw new Error(`there is no file ${path}`);
}
