import { DialectMigration } from './dialect-migration.ts';

/**
 * Adds parts of readings (`readings/reading-parts.ts`), so that a value which joins a long reading does not rewrite it.
 * Existing readings have none and stay valid; nothing is copied.
 */
export class PartsOfReadings extends DialectMigration {
  protected readonly sqlite = `
    alter table "reading" add column "has_parts" integer not null default 0;
    create table "reading_part" ("device_key" integer not null, "ts" integer not null, "part" integer not null, "packed" blob not null, primary key ("device_key", "ts", "part")) without rowid;
  `;

  protected readonly postgres = `
    alter table "reading" add column "has_parts" boolean not null default false;
    create table "reading_part" ("device_key" int not null, "ts" bigint not null, "part" int not null, "packed" bytea not null, primary key ("device_key", "ts", "part"));
  `;
}
