import { DialectMigration } from './dialect-migration.ts';

const TABLE = (integer: string, time: string): string =>
  `create table "absorbed_device" ("device_key" ${integer} not null primary key, "into_device_key" ${integer} not null, "absorbed_at" ${time} not null);`;

/**
 * Devices that are gone and whose values belong to another one, for as long as some may still be committed for them
 * (`domain/measurements/sweep-late-values.ts`).
 */
export class AbsorbedDevices extends DialectMigration {
  protected readonly sqlite = TABLE('integer', 'integer');

  protected readonly postgres = TABLE('int', 'bigint');
}
