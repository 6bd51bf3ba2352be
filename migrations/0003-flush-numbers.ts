import { DialectMigration } from './dialect-migration.ts';

/** Positions in the order of commits have at most fifteen digits; no file has had so many flushes. */
const BEYOND_ALL = 1_000_000_000_000;

/**
 * SQLite: `last_flush` is at least the number of the last flush of every device that is forgotten, so that numbers never
 * go back. Before, they might: where devices or fields were ever deleted they go on beyond all that may have been given,
 * and a position from before has expired. PostgreSQL counts transactions itself.
 */
export class FlushNumbers extends DialectMigration {
  protected readonly sqlite = `
    alter table "live_horizon" add column "last_flush" integer not null default 0;
    update "live_horizon" set "last_flush" = ${BEYOND_ALL} + max("seq", (select coalesce(max("seq"), 0) from "reading"), (select coalesce(max("seq"), 0) from "device_state"), (select coalesce(max("seq"), 0) from "intake")) where exists (select 1 from "sqlite_sequence" where "name" = 'purge' and "seq" > 0);
    update "live_horizon" set "seq" = max("seq", "last_flush");
  `;

  protected readonly postgres = '';
}
