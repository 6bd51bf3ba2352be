import { DialectMigration } from './dialect-migration.ts';

/**
 * The measurement store's own tables; no entity maps them. `reading`: what a device measured at one moment, its values
 * packed; `stored_at` is the time (below zero: it is none of the live values) and `seq` the order of its last commit
 * (SQLite: number of the flush; PostgreSQL: transaction id). `intake` (SQLite): readings as they came, a flush a row, for
 * the second or so until they are sorted in among the readings; it counts before these. `chunk`: up to about a thousand
 * values of one field, compressed. Where a chunk and a reading have a value, the reading counts. `removed_field`: to be
 * looked for once more (`sweep-late-values.ts`). `live_horizon`: the last of the readings that are no longer there in the
 * order of commits. `webhook_call.id` is a UUIDv7 in lower case: ordered as bytes it is in order of time. A body may hold
 * NUL, which PostgreSQL's text cannot: there it is UTF-8 in a bytea.
 */
export class Measurements extends DialectMigration {
  protected readonly sqlite = `
    create table "reading" ("device_key" integer not null, "ts" integer not null, "stored_at" integer not null, "seq" integer not null, "packed" blob not null, primary key ("device_key", "ts")) without rowid;
    create index "reading_seq_index" on "reading" ("seq");
    create table "intake" ("seq" integer not null primary key, "stored_at" integer not null, "frames" blob not null);
    create table "chunk" ("device_key" integer not null, "field_key" integer not null, "first_at" integer not null, "last_at" integer not null, "count" integer not null, "summary" blob null, "packed" blob not null);
    create unique index "chunk_device_key_field_key_first_at_unique" on "chunk" ("device_key", "field_key", "first_at");
    create table "device_state" ("device_key" integer not null primary key, "last_heard_at" integer not null, "seq" integer not null);
    create table "live_horizon" ("seq" integer not null);
    insert into "live_horizon" values (0);
    create table "purge" ("id" integer not null primary key autoincrement, "device_key" integer not null, "field_key" integer null, "into_device_key" integer null);
    create table "removed_field" ("field_key" integer not null primary key, "product_key" integer not null, "removed_at" integer not null);
    create table "webhook_call" ("key" integer not null primary key autoincrement, "product_key" integer not null, "id" text not null, "received_at" integer not null, "method" text not null, "path" text not null, "query" text not null, "headers" text not null, "body" text not null, "body_truncated" integer not null, "status" text not null, "http_status" integer not null, "decoder_version" integer null, "run" text null);
    create unique index "webhook_call_product_key_id_unique" on "webhook_call" ("product_key", "id");
    create index "webhook_call_product_key_status_id_index" on "webhook_call" ("product_key", "status", "id");
    create index "webhook_call_received_at_index" on "webhook_call" ("received_at");
  `;

  protected readonly postgres = `
    create table "reading" ("device_key" int not null, "ts" bigint not null, "stored_at" bigint not null, "seq" xid8 not null default pg_current_xact_id(), "packed" bytea not null, primary key ("device_key", "ts"));
    create index "reading_seq_index" on "reading" ("seq");
    create table "chunk" ("device_key" int not null, "field_key" int not null, "first_at" bigint not null, "last_at" bigint not null, "count" int not null, "summary" bytea null, "packed" bytea not null, primary key ("device_key", "field_key", "first_at"));
    alter table "chunk" alter column "packed" set storage external;
    create table "device_state" ("device_key" int not null primary key, "last_heard_at" bigint not null) with (fillfactor = 50);
    create table "live_horizon" ("seq" xid8 not null);
    insert into "live_horizon" values ('0');
    create table "purge" ("id" bigserial primary key, "device_key" int not null, "field_key" int null, "into_device_key" int null);
    create table "removed_field" ("field_key" int not null primary key, "product_key" int not null, "removed_at" bigint not null);
    create table "webhook_call" ("key" bigserial primary key, "product_key" int not null, "id" varchar(36) collate "C" not null, "received_at" bigint not null, "method" text not null, "path" text not null, "query" text not null, "headers" text not null, "body" bytea not null, "body_truncated" boolean not null, "status" varchar(20) not null, "http_status" int not null, "decoder_version" int null, "run" text null);
    alter table "webhook_call" add constraint "webhook_call_product_key_id_unique" unique ("product_key", "id");
    create index "webhook_call_product_key_status_id_index" on "webhook_call" ("product_key", "status", "id");
    create index "webhook_call_received_at_index" on "webhook_call" ("received_at");
  `;
}
