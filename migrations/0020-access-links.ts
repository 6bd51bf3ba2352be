import { DialectMigration } from './dialect-migration.ts';

/** Adds links that let somebody in once: invitations to a workspace, and new passwords. */
export class AccessLinksOfPeople extends DialectMigration {
  protected readonly sqlite = `
    create table "access_link" ("id" text not null primary key, "kind" text not null, "hash" text not null, "email" text not null, "workspace_id" text null, "role" text null, "user_id" text null, "created_at" bigint not null, "expires_at" bigint not null, constraint "access_link_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade, constraint "access_link_user_id_foreign" foreign key ("user_id") references "user_account" ("id") on delete cascade);
    create index "access_link_workspace_id_index" on "access_link" ("workspace_id");
    create index "access_link_user_id_index" on "access_link" ("user_id");
    create unique index "access_link_hash_unique" on "access_link" ("hash");
  `;

  protected readonly postgres = `
    create table "access_link" ("id" varchar(36) not null, "kind" varchar(10) not null, "hash" varchar(64) not null, "email" varchar(320) not null, "workspace_id" varchar(36) null, "role" varchar(10) null, "user_id" varchar(36) null, "created_at" bigint not null, "expires_at" bigint not null, primary key ("id"));
    create index "access_link_workspace_id_index" on "access_link" ("workspace_id");
    create index "access_link_user_id_index" on "access_link" ("user_id");
    alter table "access_link" add constraint "access_link_hash_unique" unique ("hash");
    alter table "access_link" add constraint "access_link_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade;
    alter table "access_link" add constraint "access_link_user_id_foreign" foreign key ("user_id") references "user_account" ("id") on delete cascade;
  `;
}
