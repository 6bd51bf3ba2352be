import { openDatabase } from './open-database.ts';
import { createOperatorToken } from '../bootstrap.ts';
import type { CommandInput } from './command.ts';

/**
 * `inlet token [NAME]`: makes another personal token of the operator; needs the database, beside a running server or
 * not.
 */
export async function token({ config, args }: CommandInput): Promise<void> {
  const { database, close } = await openDatabase(config);
  try {
    console.log(await createOperatorToken(database, args[0] ?? 'from the command line', Date.now));
  } finally {
    await close();
  }
}
