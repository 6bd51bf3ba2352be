import { DialectMigration } from './dialect-migration.ts';

const TABLE = (integer: string): string =>
  `create table "moved_field" ("device_key" ${integer} not null, "field_key" ${integer} not null, "stored_key" ${integer} not null, primary key ("device_key", "field_key"));
   create table "moved_device" ("device_key" ${integer} not null primary key);
   create index "moved_field_field_key_index" on "moved_field" ("field_key");
   alter table "purge" add column "into_field_key" ${integer} null;`;

/**
 * Adds the devices that were moved to another product, the keys under which the store has their fields
 * (`domain/moves/stored-keys.ts`), and the field that gets values which are handed over (null: the same).
 */
export class MovedDevices extends DialectMigration {
  protected readonly sqlite = TABLE('integer');

  protected readonly postgres = TABLE('int');
}
