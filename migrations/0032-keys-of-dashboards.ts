import { DialectMigration } from './dialect-migration.ts';

/** Adds keys of their authors' choice to dashboards. On SQLite the table is made anew, so that the widgets stay last. */
export class KeysOfDashboards extends DialectMigration {
  protected readonly sqlite = `
    create table "dashboard_with_key" ("key" integer not null primary key autoincrement, "id" text not null, "workspace_id" text not null, "name" text not null, "created_at" bigint not null, "author_key" text null, "created_from" json null, "widgets" text not null, constraint "dashboard_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade);
    insert into "dashboard_with_key" ("key", "id", "workspace_id", "name", "created_at", "widgets") select "key", "id", "workspace_id", "name", "created_at", "widgets" from "dashboard";
    drop table "dashboard";
    alter table "dashboard_with_key" rename to "dashboard";
    create unique index "dashboard_id_unique" on "dashboard" ("id");
    create index "dashboard_workspace_id_index" on "dashboard" ("workspace_id");
    create unique index "dashboard_workspace_id_author_key_unique" on "dashboard" ("workspace_id", "author_key");
  `;

  protected readonly postgres = `
    alter table "dashboard" add column "author_key" varchar(64) null;
    alter table "dashboard" add column "created_from" jsonb null;
    alter table "dashboard" add constraint "dashboard_workspace_id_author_key_unique" unique ("workspace_id", "author_key");
  `;
}
