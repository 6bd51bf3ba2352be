import { DialectMigration } from './dialect-migration.ts';

/**
 * Adds what is read on behalf of endpoints, each by one node at a time: `name` says what, `node` reads it until
 * `lease_until`, and is as far as `position`, a cursor, reached at `at`. `silent_device`: devices of which was told, or
 * is known from the start, that they are offline.
 */
export class OutgoingReaders extends DialectMigration {
  protected readonly sqlite = `
    create table "outgoing_reader" ("name" text not null primary key, "node" text not null, "lease_until" integer not null, "position" text null, "at" integer not null) without rowid;
    create table "silent_device" ("device_key" integer not null primary key, "workspace_id" text not null);
    create index "silent_device_workspace_id_index" on "silent_device" ("workspace_id");
  `;

  protected readonly postgres = `
    create table "outgoing_reader" ("name" varchar(60) not null primary key, "node" varchar(36) not null, "lease_until" bigint not null, "position" text null, "at" bigint not null);
    create table "silent_device" ("device_key" int not null primary key, "workspace_id" varchar(36) not null);
    create index "silent_device_workspace_id_index" on "silent_device" ("workspace_id");
  `;
}
