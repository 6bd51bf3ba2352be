import { Migration } from '@mikro-orm/migrations';
import { SqlitePlatform } from '@mikro-orm/sqlite';

/** A migration whose SQL differs by database: statements separated by `;` and a line break. */
export abstract class DialectMigration extends Migration {
  protected abstract readonly sqlite: string;
  protected abstract readonly postgres: string;

  override up(): Promise<void> | void {
    const sql = this.driver.getPlatform() instanceof SqlitePlatform ? this.sqlite : this.postgres;
    for (const statement of sql.split(/;\s*\n/)) if (statement.trim() !== '') this.addSql(statement.trim());
  }
}
