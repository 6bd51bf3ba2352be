import { DialectMigration } from './dialect-migration.ts';

/**
 * The measurement store's own tables; no entity maps them. `inbox` exists only on SQLite: acknowledged receipts that
 * are not yet settled into `measurement`. `webhook_call.id` is a UUIDv7 in lower case: ordered as bytes it is in order
 * of time. A body may hold NUL, which PostgreSQL's text cannot: there it is UTF-8 in a bytea.
 */
export class Measurements extends DialectMigration {
  protected readonly sqlite = `
    create table "measurement" ("device_key" integer not null, "field_key" integer not null, "ts" integer not null, "value" not null, primary key ("device_key", "field_key", "ts")) without rowid;
    create table "device_state" ("device_key" integer not null primary key, "last_heard_at" integer not null);
    create table "inbox" ("seq" integer not null primary key autoincrement, "receipts" blob not null);
    create table "purge" ("id" integer not null primary key autoincrement, "device_key" integer not null, "field_key" integer null);
    create table "webhook_call" ("key" integer not null primary key autoincrement, "product_key" integer not null, "id" text not null, "received_at" integer not null, "method" text not null, "path" text not null, "query" text not null, "headers" text not null, "body" text not null, "body_truncated" integer not null, "status" text not null, "http_status" integer not null, "decoder_version" integer null, "run" text null);
    create unique index "webhook_call_product_key_id_unique" on "webhook_call" ("product_key", "id");
    create index "webhook_call_product_key_status_id_index" on "webhook_call" ("product_key", "status", "id");
    create index "webhook_call_received_at_index" on "webhook_call" ("received_at");
  `;

  protected readonly postgres = `
    create table "measurement" ("device_key" int not null, "field_key" int not null, "ts" bigint not null, "number" double precision null, "text" text null, primary key ("device_key", "field_key", "ts"));
    create table "device_state" ("device_key" int not null primary key, "last_heard_at" bigint not null) with (fillfactor = 50);
    create table "purge" ("id" bigserial primary key, "device_key" int not null, "field_key" int null);
    create table "webhook_call" ("key" bigserial primary key, "product_key" int not null, "id" varchar(36) collate "C" not null, "received_at" bigint not null, "method" text not null, "path" text not null, "query" text not null, "headers" text not null, "body" bytea not null, "body_truncated" boolean not null, "status" varchar(20) not null, "http_status" int not null, "decoder_version" int null, "run" text null);
    alter table "webhook_call" add constraint "webhook_call_product_key_id_unique" unique ("product_key", "id");
    create index "webhook_call_product_key_status_id_index" on "webhook_call" ("product_key", "status", "id");
    create index "webhook_call_received_at_index" on "webhook_call" ("received_at");
  `;
}
