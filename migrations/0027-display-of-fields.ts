import { DialectMigration } from './dialect-migration.ts';

/** Says of each field how its values look to people, as JSON text; null: nothing is said. */
export class DisplayOfFields extends DialectMigration {
  protected readonly sqlite = `alter table "field" add column "display" text null;`;

  protected readonly postgres = this.sqlite;
}
