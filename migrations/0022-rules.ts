import { DialectMigration } from './dialect-migration.ts';

/** Adds rules that watch the devices of a product. */
export class RulesOfProducts extends DialectMigration {
  protected readonly sqlite = `
    create table "rule" ("key" integer not null primary key autoincrement, "id" text not null, "workspace_id" text not null, "product_key" integer not null, "name" text not null, "enabled" integer not null, "tags" text not null, "definition" text not null, "revision" integer not null, "judged_revision" integer not null, "created_at" bigint not null, "author_key" text null, "created_from" json null, constraint "rule_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade, constraint "rule_product_key_foreign" foreign key ("product_key") references "product" ("key") on delete cascade);
    create unique index "rule_id_unique" on "rule" ("id");
    create index "rule_workspace_id_index" on "rule" ("workspace_id");
    create index "rule_product_key_index" on "rule" ("product_key");
    create unique index "rule_workspace_id_author_key_unique" on "rule" ("workspace_id", "author_key");
  `;

  protected readonly postgres = `
    create table "rule" ("key" serial primary key, "id" varchar(36) not null, "workspace_id" varchar(36) not null, "product_key" int not null, "name" varchar(200) not null, "enabled" boolean not null, "tags" text not null, "definition" text not null, "revision" int not null, "judged_revision" int not null, "created_at" bigint not null, "author_key" varchar(64) null, "created_from" jsonb null);
    alter table "rule" add constraint "rule_id_unique" unique ("id");
    create index "rule_product_key_index" on "rule" ("product_key");
    alter table "rule" add constraint "rule_workspace_id_author_key_unique" unique ("workspace_id", "author_key");
    alter table "rule" add constraint "rule_workspace_id_foreign" foreign key ("workspace_id") references "workspace" ("id") on delete cascade;
    alter table "rule" add constraint "rule_product_key_foreign" foreign key ("product_key") references "product" ("key") on delete cascade;
  `;
}
