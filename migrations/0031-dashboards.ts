import { DialectMigration } from './dialect-migration.ts';

/** Adds dashboards over devices of a workspace. */
export class DashboardsOfWorkspaces extends DialectMigration {
  protected readonly sqlite = `
    create table "dashboard" ("key" integer not null primary key autoincrement, "id" text not null, "workspace_id" text not null, "name" text not null, "created_at" bigint not null, "widgets" text not null, constraint "dashboard_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade);
    create unique index "dashboard_id_unique" on "dashboard" ("id");
    create index "dashboard_workspace_id_index" on "dashboard" ("workspace_id");
  `;

  protected readonly postgres = `
    create table "dashboard" ("key" serial primary key, "id" varchar(36) not null, "workspace_id" varchar(36) not null, "name" varchar(200) not null, "created_at" bigint not null, "widgets" text not null);
    alter table "dashboard" add constraint "dashboard_id_unique" unique ("id");
    create index "dashboard_workspace_id_index" on "dashboard" ("workspace_id");
    alter table "dashboard" add constraint "dashboard_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade;
  `;
}
