import { DialectMigration } from './dialect-migration.ts';

/**
 * Workspaces, users, tokens, products, fields, devices, decoders. `heartbeat` is no entity: its one row is written to
 * find out whether the database takes writes.
 */
export class Catalogue extends DialectMigration {
  protected readonly sqlite = `
    create table "installation" ("name" text not null primary key, "value" text not null);
    create table "user_account" ("id" text not null primary key, "email" text not null, "name" text null, "password_hash" text null, "operator" integer not null, "created_at" bigint not null);
    create unique index "user_account_email_unique" on "user_account" ("email");
    create table "workspace" ("id" text not null primary key, "name" text not null, "write_rate" double null, "created_at" bigint not null);
    create table "token" ("id" text not null primary key, "name" text not null, "kind" text not null, "user_id" text null, "workspace_id" text null, "scopes" json not null, "product_ids" json null, "device_ids" json null, "hash" text not null, "created_at" bigint not null, "last_used_at" bigint null, "expires_at" bigint null, "signed_in" integer not null, constraint "token_user_id_foreign" foreign key ("user_id") references "user_account" ("id") on delete cascade, constraint "token_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade);
    create index "token_user_id_index" on "token" ("user_id");
    create index "token_workspace_id_index" on "token" ("workspace_id");
    create unique index "token_hash_unique" on "token" ("hash");
    create table "product" ("key" integer not null primary key autoincrement, "id" text not null, "workspace_id" text not null, "name" text not null, "search_text" text not null, "device_type" text not null, "webhook_id" text not null, "offline_after_seconds" integer null, "write_rate" double null, "active_version" integer null, "created_at" bigint not null, "deleted_at" bigint null, "dashboard" json not null, constraint "product_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade);
    create unique index "product_id_unique" on "product" ("id");
    create index "product_workspace_id_index" on "product" ("workspace_id");
    create unique index "product_webhook_id_unique" on "product" ("webhook_id");
    create table "suggested_field" ("product_key" integer not null, "identifier" text not null, "type" text not null, "last_value" json null, "name" text null, "unit" text null, "seen" integer not null, "ignored" integer not null, "last_seen_at" bigint not null, primary key ("product_key", "identifier"), constraint "suggested_field_product_key_foreign" foreign key ("product_key") references "product" ("key") on delete cascade);
    create index "suggested_field_product_key_index" on "suggested_field" ("product_key");
    create table "field" ("key" integer not null primary key autoincrement, "product_key" integer not null, "identifier" text not null, "type" text not null, "name" text null, "unit" text null, "description" text null, "role" text null, constraint "field_product_key_foreign" foreign key ("product_key") references "product" ("key") on delete cascade);
    create index "field_product_key_index" on "field" ("product_key");
    create unique index "field_product_key_identifier_unique" on "field" ("product_key", "identifier");
    create unique index "field_product_key_role_unique" on "field" ("product_key", "role");
    create table "configuration_field" ("key" integer not null primary key autoincrement, "product_key" integer not null, "identifier" text not null, "type" text not null, "name" text null, "description" text null, "default_value" json null, constraint "configuration_field_product_key_foreign" foreign key ("product_key") references "product" ("key") on delete cascade);
    create index "configuration_field_product_key_index" on "configuration_field" ("product_key");
    create unique index "configuration_field_product_key_identifier_unique" on "configuration_field" ("product_key", "identifier");
    create table "unknown_device" ("id" text not null primary key, "workspace_id" text not null, "identifier" text not null, "identity" text not null, "network" text not null, "first_seen_at" bigint not null, "last_seen_at" bigint not null, "seen" integer not null, constraint "unknown_device_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade);
    create index "unknown_device_workspace_id_index" on "unknown_device" ("workspace_id");
    create unique index "unknown_device_workspace_id_identity_unique" on "unknown_device" ("workspace_id", "identity");
    create table "unknown_call" ("id" text not null primary key, "unknown_device_id" text not null, "received_at" bigint not null, "path" text not null, "query" text not null, "headers" text not null, "body" text not null, constraint "unknown_call_unknown_device_id_foreign" foreign key ("unknown_device_id") references "unknown_device" ("id") on delete cascade);
    create index "unknown_call_unknown_device_id_index" on "unknown_call" ("unknown_device_id");
    create table "decoder_version" ("product_key" integer not null, "version" integer not null, "note" text null, "author" text null, "created_at" bigint not null, "source" text not null, primary key ("product_key", "version"), constraint "decoder_version_product_key_foreign" foreign key ("product_key") references "product" ("key") on delete cascade);
    create index "decoder_version_product_key_index" on "decoder_version" ("product_key");
    create table "decoder_example" ("id" text not null primary key, "product_key" integer not null, "name" text not null, "created_at" bigint not null, "request" json not null, "expected" json not null, constraint "decoder_example_product_key_foreign" foreign key ("product_key") references "product" ("key") on delete cascade);
    create index "decoder_example_product_key_index" on "decoder_example" ("product_key");
    create unique index "decoder_example_product_key_name_unique" on "decoder_example" ("product_key", "name");
    create table "member" ("workspace_id" text not null, "user_id" text not null, "role" text not null, primary key ("workspace_id", "user_id"), constraint "member_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on update cascade on delete cascade, constraint "member_user_id_foreign" foreign key ("user_id") references "user_account" ("id") on update cascade on delete cascade);
    create index "member_workspace_id_index" on "member" ("workspace_id");
    create index "member_user_id_index" on "member" ("user_id");
    create table "device" ("key" integer not null primary key autoincrement, "id" text not null, "workspace_id" text not null, "product_key" integer not null, "name" text not null, "serial_number" text not null, "serial_folded" text not null, "search_text" text not null, "plan" text not null, "tags" text not null, "location" text null, "offline_after_seconds" integer null, "write_rate" double null, "created_at" bigint not null, "configuration" json null, "metadata" json null, constraint "device_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade, constraint "device_product_key_foreign" foreign key ("product_key") references "product" ("key") on delete cascade);
    create unique index "device_id_unique" on "device" ("id");
    create index "device_workspace_id_index" on "device" ("workspace_id");
    create index "device_product_key_index" on "device" ("product_key");
    create index "device_workspace_id_serial_number_index" on "device" ("workspace_id", "serial_number");
    create index "device_workspace_id_serial_folded_index" on "device" ("workspace_id", "serial_folded");
    create unique index "device_product_key_serial_number_unique" on "device" ("product_key", "serial_number");
    create table "audit_entry" ("id" text not null primary key, "workspace_id" text null, "at" bigint not null, "operation" text not null, "token_id" text not null, "token_name" text null, "user_id" text null, "user_email" text null, "subjects" text not null, "arguments" text not null);
    create index "audit_entry_workspace_id_id_index" on "audit_entry" ("workspace_id", "id");
    create index "audit_entry_at_index" on "audit_entry" ("at");
    create table "heartbeat" ("id" integer not null primary key, "at" integer not null);
  `;

  protected readonly postgres = `
    create table "installation" ("name" varchar(100) not null, "value" varchar(200) not null, primary key ("name"));
    create table "user_account" ("id" varchar(36) not null, "email" varchar(320) not null, "name" varchar(200) null, "password_hash" varchar(300) null, "operator" boolean not null, "created_at" bigint not null, primary key ("id"));
    alter table "user_account" add constraint "user_account_email_unique" unique ("email");
    create table "workspace" ("id" varchar(36) not null, "name" varchar(200) not null, "write_rate" double precision null, "created_at" bigint not null, primary key ("id"));
    create table "token" ("id" varchar(36) not null, "name" varchar(200) not null, "kind" varchar(10) not null, "user_id" varchar(36) null, "workspace_id" varchar(36) null, "scopes" jsonb not null, "product_ids" jsonb null, "device_ids" jsonb null, "hash" varchar(64) not null, "created_at" bigint not null, "last_used_at" bigint null, "expires_at" bigint null, "signed_in" boolean not null, primary key ("id"));
    create index "token_user_id_index" on "token" ("user_id");
    create index "token_workspace_id_index" on "token" ("workspace_id");
    alter table "token" add constraint "token_hash_unique" unique ("hash");
    create table "product" ("key" serial primary key, "id" varchar(36) not null, "workspace_id" varchar(36) not null, "name" varchar(200) not null, "search_text" varchar(200) not null, "device_type" varchar(10) not null, "webhook_id" varchar(64) not null, "offline_after_seconds" int null, "write_rate" double precision null, "active_version" int null, "created_at" bigint not null, "deleted_at" bigint null, "dashboard" jsonb not null);
    alter table "product" add constraint "product_id_unique" unique ("id");
    create index "product_workspace_id_index" on "product" ("workspace_id");
    alter table "product" add constraint "product_webhook_id_unique" unique ("webhook_id");
    create table "suggested_field" ("product_key" int not null, "identifier" varchar(64) not null, "type" varchar(12) not null, "last_value" jsonb null, "name" varchar(200) null, "unit" varchar(50) null, "seen" int not null, "ignored" boolean not null, "last_seen_at" bigint not null, primary key ("product_key", "identifier"));
    create table "field" ("key" serial primary key, "product_key" int not null, "identifier" varchar(64) not null, "type" varchar(12) not null, "name" varchar(200) null, "unit" varchar(50) null, "description" text null, "role" varchar(10) null);
    alter table "field" add constraint "field_product_key_identifier_unique" unique ("product_key", "identifier");
    alter table "field" add constraint "field_product_key_role_unique" unique ("product_key", "role");
    create table "configuration_field" ("key" serial primary key, "product_key" int not null, "identifier" varchar(64) not null, "type" varchar(10) not null, "name" varchar(200) null, "description" text null, "default_value" jsonb null);
    alter table "configuration_field" add constraint "configuration_field_product_key_identifier_unique" unique ("product_key", "identifier");
    create table "unknown_device" ("id" varchar(36) not null, "workspace_id" varchar(36) not null, "identifier" varchar(200) not null, "identity" varchar(200) not null, "network" varchar(10) not null, "first_seen_at" bigint not null, "last_seen_at" bigint not null, "seen" int not null, primary key ("id"));
    alter table "unknown_device" add constraint "unknown_device_workspace_id_identity_unique" unique ("workspace_id", "identity");
    create table "unknown_call" ("id" varchar(36) not null, "unknown_device_id" varchar(36) not null, "received_at" bigint not null, "path" text not null, "query" text not null, "headers" text not null, "body" text not null, primary key ("id"));
    create index "unknown_call_unknown_device_id_index" on "unknown_call" ("unknown_device_id");
    create table "decoder_version" ("product_key" int not null, "version" int not null, "note" text null, "author" varchar(320) null, "created_at" bigint not null, "source" text not null, primary key ("product_key", "version"));
    create table "decoder_example" ("id" varchar(36) not null, "product_key" int not null, "name" varchar(200) not null, "created_at" bigint not null, "request" jsonb not null, "expected" jsonb not null, primary key ("id"));
    alter table "decoder_example" add constraint "decoder_example_product_key_name_unique" unique ("product_key", "name");
    create table "member" ("workspace_id" varchar(36) not null, "user_id" varchar(36) not null, "role" varchar(10) not null, primary key ("workspace_id", "user_id"));
    create index "member_user_id_index" on "member" ("user_id");
    create table "device" ("key" serial primary key, "id" varchar(36) not null, "workspace_id" varchar(36) not null, "product_key" int not null, "name" varchar(200) not null, "serial_number" varchar(200) not null, "serial_folded" varchar(200) not null, "search_text" text not null, "plan" varchar(50) not null, "tags" text not null, "location" varchar(500) null, "offline_after_seconds" int null, "write_rate" double precision null, "created_at" bigint not null, "configuration" jsonb null, "metadata" jsonb null);
    alter table "device" add constraint "device_id_unique" unique ("id");
    create index "device_workspace_id_serial_number_index" on "device" ("workspace_id", "serial_number");
    create index "device_workspace_id_serial_folded_index" on "device" ("workspace_id", "serial_folded");
    alter table "device" add constraint "device_product_key_serial_number_unique" unique ("product_key", "serial_number");
    alter table "token" add constraint "token_user_id_foreign" foreign key ("user_id") references "user_account" ("id") on delete cascade;
    alter table "token" add constraint "token_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade;
    alter table "product" add constraint "product_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade;
    alter table "suggested_field" add constraint "suggested_field_product_key_foreign" foreign key ("product_key") references "product" ("key") on delete cascade;
    alter table "field" add constraint "field_product_key_foreign" foreign key ("product_key") references "product" ("key") on delete cascade;
    alter table "configuration_field" add constraint "configuration_field_product_key_foreign" foreign key ("product_key") references "product" ("key") on delete cascade;
    alter table "unknown_device" add constraint "unknown_device_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade;
    alter table "unknown_call" add constraint "unknown_call_unknown_device_id_foreign" foreign key ("unknown_device_id") references "unknown_device" ("id") on delete cascade;
    alter table "decoder_version" add constraint "decoder_version_product_key_foreign" foreign key ("product_key") references "product" ("key") on delete cascade;
    alter table "decoder_example" add constraint "decoder_example_product_key_foreign" foreign key ("product_key") references "product" ("key") on delete cascade;
    alter table "member" add constraint "member_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on update cascade on delete cascade;
    alter table "member" add constraint "member_user_id_foreign" foreign key ("user_id") references "user_account" ("id") on update cascade on delete cascade;
    alter table "device" add constraint "device_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade;
    alter table "device" add constraint "device_product_key_foreign" foreign key ("product_key") references "product" ("key") on delete cascade;
    create table "audit_entry" ("id" varchar(36) not null, "workspace_id" varchar(36) null, "at" bigint not null, "operation" varchar(50) not null, "token_id" varchar(36) not null, "token_name" varchar(200) null, "user_id" varchar(36) null, "user_email" varchar(320) null, "subjects" text not null, "arguments" text not null, primary key ("id"));
    create index "audit_entry_workspace_id_id_index" on "audit_entry" ("workspace_id", "id");
    create index "audit_entry_at_index" on "audit_entry" ("at");
    create table "heartbeat" ("id" int not null primary key, "at" bigint not null);
  `;
}
