import { DialectMigration } from './dialect-migration.ts';

/**
 * Adds endpoints, and the tables of what leaves through them; no entity maps these. `delivery`: an event for one
 * endpoint, with its tries; `message_id` is the same for the same event. `delivery_lane`: what waits for one endpoint in
 * order (the events of a device), from the first that waits to the last that was sent. Its oldest delivery is sent at
 * `next_at`; whoever sends it is the `holder` and has moved `next_at` to the end of its lease. `firing_alert`: alerts
 * that an Alertmanager is to be told of again. No foreign keys: what is left of a deleted endpoint is swept.
 */
export class Endpoints extends DialectMigration {
  protected readonly sqlite = `
    create table "endpoint" ("key" integer not null primary key autoincrement, "id" text not null, "workspace_id" text not null, "name" text not null, "kind" text not null, "url" text null, "addresses" json null, "events" json not null, "product_ids" json null, "tags" text not null, "enabled" integer not null, "disabled_reason" text null, "failing_since" bigint null, "is_full" integer not null, "created_at" bigint not null, "author_key" text null, "secret" text null, "previous_secret" text null, "previous_until" bigint null, "created_from" json null, constraint "endpoint_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade);
    create unique index "endpoint_id_unique" on "endpoint" ("id");
    create index "endpoint_workspace_id_index" on "endpoint" ("workspace_id");
    create unique index "endpoint_workspace_id_author_key_unique" on "endpoint" ("workspace_id", "author_key");
    create table "delivery" ("key" integer not null primary key autoincrement, "id" text not null unique, "endpoint_key" integer not null, "message_id" text not null, "lane" text not null, "type" text not null, "status" text not null, "created_at" integer not null, "settled_at" integer null, "tries" integer not null, "attempts" text not null, "body" text not null);
    create unique index "delivery_endpoint_key_message_id_unique" on "delivery" ("endpoint_key", "message_id");
    create index "delivery_endpoint_key_status_key_index" on "delivery" ("endpoint_key", "status", "key");
    create index "delivery_waiting_index" on "delivery" ("endpoint_key", "lane", "key") where "status" = 'WAITING';
    create table "delivery_lane" ("endpoint_key" integer not null, "lane" text not null, "next_at" integer not null, "holder" text null, primary key ("endpoint_key", "lane")) without rowid;
    create index "delivery_lane_endpoint_key_next_at_index" on "delivery_lane" ("endpoint_key", "next_at");
    create table "firing_alert" ("endpoint_key" integer not null, "alert" text not null, "body" text not null, "repeat_at" integer not null, primary key ("endpoint_key", "alert")) without rowid;
  `;

  protected readonly postgres = `
    create table "endpoint" ("key" serial primary key, "id" varchar(36) not null, "workspace_id" varchar(36) not null, "name" varchar(200) not null, "kind" varchar(12) not null, "url" varchar(2048) null, "addresses" jsonb null, "events" jsonb not null, "product_ids" jsonb null, "tags" text not null, "enabled" boolean not null, "disabled_reason" varchar(500) null, "failing_since" bigint null, "is_full" boolean not null, "created_at" bigint not null, "author_key" varchar(64) null, "secret" varchar(100) null, "previous_secret" varchar(100) null, "previous_until" bigint null, "created_from" jsonb null);
    alter table "endpoint" add constraint "endpoint_id_unique" unique ("id");
    create index "endpoint_workspace_id_index" on "endpoint" ("workspace_id");
    alter table "endpoint" add constraint "endpoint_workspace_id_author_key_unique" unique ("workspace_id", "author_key");
    alter table "endpoint" add constraint "endpoint_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade;
    create table "delivery" ("key" bigserial primary key, "id" varchar(36) not null unique, "endpoint_key" int not null, "message_id" varchar(40) not null, "lane" varchar(60) collate "C" not null, "type" varchar(40) not null, "status" varchar(10) not null, "created_at" bigint not null, "settled_at" bigint null, "tries" int not null, "attempts" text not null, "body" text not null);
    create unique index "delivery_endpoint_key_message_id_unique" on "delivery" ("endpoint_key", "message_id");
    create index "delivery_endpoint_key_status_key_index" on "delivery" ("endpoint_key", "status", "key");
    create index "delivery_waiting_index" on "delivery" ("endpoint_key", "lane", "key") where "status" = 'WAITING';
    create table "delivery_lane" ("endpoint_key" int not null, "lane" varchar(60) collate "C" not null, "next_at" bigint not null, "holder" varchar(36) null, primary key ("endpoint_key", "lane"));
    create index "delivery_lane_endpoint_key_next_at_index" on "delivery_lane" ("endpoint_key", "next_at");
    create table "firing_alert" ("endpoint_key" int not null, "alert" varchar(60) not null, "body" text not null, "repeat_at" bigint not null, primary key ("endpoint_key", "alert"));
  `;
}
