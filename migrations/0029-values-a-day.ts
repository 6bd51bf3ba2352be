import { DialectMigration } from './dialect-migration.ts';

/** Adds the number of values that were stored for a workspace on each day (UTC, counted from 1970). */
export class ValuesADay extends DialectMigration {
  protected readonly sqlite = `
    create table "workspace_day" ("workspace_id" text not null, "day" integer not null, "stored" integer not null, primary key ("workspace_id", "day"), constraint "workspace_day_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade) without rowid;
  `;

  protected readonly postgres = `
    create table "workspace_day" ("workspace_id" varchar(36) not null, "day" int not null, "stored" bigint not null, primary key ("workspace_id", "day"));
    alter table "workspace_day" add constraint "workspace_day_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade;
  `;
}
