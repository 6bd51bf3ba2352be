import { DialectMigration } from './dialect-migration.ts';

/**
 * What SQLite is to take the table of devices for, however many there are now: it counts no rows of its own accord, and
 * without a word a workspace or product has ten for it, so that a few devices were looked for among all of theirs. The
 * first number: rows in all, then how many have the same first column, the same first two. `ANALYZE` makes the table that
 * keeps it. PostgreSQL counts by itself.
 */
export class RowsOfDevices extends DialectMigration {
  protected readonly sqlite = `
    analyze "heartbeat";
    delete from "sqlite_stat1" where "tbl" = 'device';
    insert into "sqlite_stat1" ("tbl", "idx", "stat") values
      ('device', 'device_id_unique', '1000000 1'),
      ('device', 'device_workspace_id_index', '1000000 100000'),
      ('device', 'device_product_key_index', '1000000 50000'),
      ('device', 'device_workspace_id_serial_number_index', '1000000 100000 2'),
      ('device', 'device_workspace_id_serial_folded_index', '1000000 100000 2'),
      ('device', 'device_workspace_id_plan_index', '1000000 100000 50000'),
      ('device', 'device_product_key_serial_number_unique', '1000000 50000 1');
    analyze "sqlite_schema";
  `;

  protected readonly postgres = '';
}
