import { DialectMigration } from './dialect-migration.ts';

/** Adds what was last applied of each object that a configuration document named. */
export class AppliedConfiguration extends DialectMigration {
  protected readonly sqlite = `
    create table "applied_object" ("workspace_id" text not null, "section" text not null, "name" text not null,
      "set_name" text not null, "is_left" integer not null, "named" text not null, "state" text not null,
      constraint "applied_object_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id")
        on delete cascade,
      primary key ("workspace_id", "section", "name"));
    create index "applied_object_workspace_id_index" on "applied_object" ("workspace_id");
  `;

  protected readonly postgres = `
    create table "applied_object" ("workspace_id" varchar(36) not null, "section" varchar(20) not null,
      "name" text not null, "set_name" varchar(64) not null, "is_left" boolean not null, "named" text not null,
      "state" text not null, primary key ("workspace_id", "section", "name"));
    alter table "applied_object" add constraint "applied_object_workspace_id_foreign" foreign key ("workspace_id")
      references "workspace" ("id") on delete cascade;
  `;
}
