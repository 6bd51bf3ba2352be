import { DialectMigration } from './dialect-migration.ts';

/**
 * Which values each logged call stored, as `domain/calls/stored-values.ts` writes them; NULL: of a call logged before.
 * `shared_value`: values that replayed calls say as well, beside the call that stored them; `others`: how many,
 * `received_at`: of the latest of these.
 */
export class StoredOfCalls extends DialectMigration {
  protected readonly sqlite = `
    alter table "webhook_call" add column "stored" text null;
    create table "shared_value" ("device_key" integer not null, "ts" integer not null, "field_key" integer not null, "others" integer not null, "received_at" integer not null, primary key ("device_key", "ts", "field_key")) without rowid;
    create index "shared_value_received_at_index" on "shared_value" ("received_at");
  `;

  protected readonly postgres = `
    alter table "webhook_call" add column "stored" text null;
    create table "shared_value" ("device_key" int not null, "ts" bigint not null, "field_key" int not null, "others" int not null, "received_at" bigint not null, primary key ("device_key", "ts", "field_key"));
    create index "shared_value_received_at_index" on "shared_value" ("received_at");
  `;
}
