import Sqlite from 'better-sqlite3';
import { askOnce } from './postgres.ts';

/** Runs a statement that both databases know in the one at `url` (`sqlite:PATH` or `postgres://…`), past its server. */
export async function executeSql(url: string, sql: string): Promise<void> {
  if (url.startsWith('sqlite:')) {
    const file = new Sqlite(url.slice('sqlite:'.length));
    file.exec(sql);
    file.close();
    return;
  }
  await askOnce(url, sql);
}
