import { DialectMigration } from './dialect-migration.ts';

const COLUMN = 'alter table "product" add column "time_zone"';

/** In which zone times of a product are that name none; null: UTC, as before. */
export class ZonesOfProducts extends DialectMigration {
  protected readonly sqlite = `${COLUMN} text null;`;

  protected readonly postgres = `${COLUMN} varchar(64) null;`;
}
