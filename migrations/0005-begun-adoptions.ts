import { DialectMigration } from './dialect-migration.ts';

/** When a device was made of it, in ms UTC: until its calls were handed over it is one that is unknown. */
const SQL = 'alter table "unknown_device" add column "adopted_at" bigint null;';

/** Unknown devices whose adoption was begun, so that one that a stop has cut off is listed, and can be gone on with. */
export class BegunAdoptions extends DialectMigration {
  protected readonly sqlite = SQL;

  protected readonly postgres = SQL;
}
