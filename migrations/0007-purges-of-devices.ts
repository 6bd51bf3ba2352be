import { DialectMigration } from './dialect-migration.ts';

const INDEX = 'create index "purge_device_key_index" on "purge" ("device_key");';

/** Whether something of a device waits to be forgotten is asked of each that is gone, and very many may wait. */
export class PurgesOfDevices extends DialectMigration {
  protected readonly sqlite = INDEX;

  protected readonly postgres = INDEX;
}
