import { DialectMigration } from './dialect-migration.ts';

/** The identifiers of fields that a token is limited to; null: all, as before. */
export class FieldsOfTokens extends DialectMigration {
  protected readonly sqlite = 'alter table "token" add column "fields" json null;';

  protected readonly postgres = 'alter table "token" add column "fields" jsonb null;';
}
