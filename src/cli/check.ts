import { findDamage } from '../database/sqlite-copy.ts';
import type { CommandInput } from './command.ts';
import { mustExist } from './file-argument.ts';
import { sqliteFile } from './sqlite-file.ts';

/** `inlet check [FILE]`: reads all of the SQLite database, or of a backup; throws with what is damaged. */
export async function check(input: CommandInput): Promise<void> {
  const path = input.args[0] ?? sqliteFile(input);
  mustExist(path);
  const damage = findDamage(path);
  if (damage.length > 0) throw new Error(`${path} is damaged: ${damage.join('; ')}`);
  console.log(`${path}: whole`);
}
