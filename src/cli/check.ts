import { findDamage, selectOf } from '../database/sqlite-copy.ts';
import { findSharedIdentities, sharedIdentitiesSql, sharedIdentityTexts } from '../domain/devices/shared-identities.ts';
import type { CommandInput } from './command.ts';
import { mustExist, sqliteFile } from './file-argument.ts';
import { openDatabase } from './open-database.ts';

/**
 * `inlet check [FILE]`: reads all of the SQLite database, or of a backup; throws with its damage. Also prints EUIs and
 * core ids that several devices share; for PostgreSQL that is all.
 */
export async function check(input: CommandInput): Promise<void> {
  const [file] = input.args;
  if (file === undefined && input.config.database.kind === 'postgres') return checkNames(input);
  const path = file ?? sqliteFile(input);
  mustExist(path);
  const damage = findDamage(path);
  if (damage.length > 0) throw new Error(`${path} is damaged: ${damage.join('; ')}`);
  console.log(`${path}: whole`);
  tell(sharedIdentityTexts(selectOf(path, sharedIdentitiesSql('sqlite'))));
}

async function checkNames({ config }: CommandInput): Promise<void> {
  const { database, close } = await openDatabase(config);
  try {
    tell(await findSharedIdentities(database));
  } finally {
    await close();
  }
  console.log('names: looked at; whether the database is whole, PostgreSQL itself can tell (pg_amcheck)');
}

function tell(shared: readonly string[]): void {
  for (const text of shared) console.log(`${text}: rename or delete all but one`);
}
