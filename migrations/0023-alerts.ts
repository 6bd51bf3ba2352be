import { DialectMigration } from './dialect-migration.ts';

/** Adds what rules make of devices: states, alerts, and their changes in order. */
export class AlertsOfRules extends DialectMigration {
  protected readonly sqlite = `
    create table "rule_state" ("device_key" integer not null primary key, "states" text not null, "due_at" bigint null);
    create index "rule_state_due_at_index" on "rule_state" ("due_at");
    create table "rule_reader" ("share" integer not null primary key, "node" text not null, "lease_until" bigint not null, "position" text null, "seq" bigint not null, "forgotten" bigint not null);
    insert into "rule_reader" ("share", "node", "lease_until", "position", "seq", "forgotten") values (0, '', 0, null, 0, 0);
    create table "alert" ("id" text not null primary key, "workspace_id" text not null, "rule_key" integer not null, "device_key" integer not null, "state" text not null, "severity" text not null, "is_open" integer not null, "started_at" bigint not null, "fired_at" bigint null, "ended_at" bigint null, "late" integer not null, "acknowledged_by" text null, "acknowledged_at" bigint null, "snoozed_until" bigint null, "trace" text not null, constraint "alert_rule_key_foreign" foreign key ("rule_key") references "rule" ("key") on delete cascade, constraint "alert_device_key_foreign" foreign key ("device_key") references "device" ("key") on delete cascade);
    create index "alert_workspace_id_id_index" on "alert" ("workspace_id", "id");
    create index "alert_rule_key_index" on "alert" ("rule_key");
    create index "alert_device_key_index" on "alert" ("device_key");
    create index "alert_rule_key_id_index" on "alert" ("rule_key", "id");
    create index "alert_device_key_is_open_index" on "alert" ("device_key", "is_open");
    create table "alert_event" ("seq" bigint not null primary key, "at" bigint not null, "workspace_id" text not null, "device_key" integer not null, "alert" text not null);
    create index "alert_event_at_index" on "alert_event" ("at");
  `;

  protected readonly postgres = `
    create table "rule_state" ("device_key" int not null, "states" text not null, "due_at" bigint null, primary key ("device_key"));
    create index "rule_state_due_at_index" on "rule_state" ("due_at");
    create table "rule_reader" ("share" int not null, "node" varchar(36) not null, "lease_until" bigint not null, "position" text null, "seq" bigint not null, "forgotten" bigint not null, primary key ("share"));
    insert into "rule_reader" ("share", "node", "lease_until", "position", "seq", "forgotten") values (0, '', 0, null, 0, 0);
    create table "alert" ("id" varchar(36) not null, "workspace_id" varchar(36) not null, "rule_key" int not null, "device_key" int not null, "state" varchar(10) not null, "severity" varchar(10) not null, "is_open" boolean not null, "started_at" bigint not null, "fired_at" bigint null, "ended_at" bigint null, "late" boolean not null, "acknowledged_by" varchar(320) null, "acknowledged_at" bigint null, "snoozed_until" bigint null, "trace" text not null, primary key ("id"));
    create index "alert_workspace_id_id_index" on "alert" ("workspace_id", "id");
    create index "alert_rule_key_id_index" on "alert" ("rule_key", "id");
    create index "alert_device_key_is_open_index" on "alert" ("device_key", "is_open");
    alter table "alert" add constraint "alert_rule_key_foreign" foreign key ("rule_key") references "rule" ("key") on delete cascade;
    alter table "alert" add constraint "alert_device_key_foreign" foreign key ("device_key") references "device" ("key") on delete cascade;
    create table "alert_event" ("seq" bigint not null, "at" bigint not null, "workspace_id" varchar(36) not null, "device_key" int not null, "alert" text not null, primary key ("seq"));
    create index "alert_event_at_index" on "alert_event" ("at");
  `;
}
