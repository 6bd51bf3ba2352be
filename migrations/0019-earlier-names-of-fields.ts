import { DialectMigration } from './dialect-migration.ts';

/** Adds the earlier identifiers of fields, under which senders may go on sending. */
export class EarlierNamesOfFields extends DialectMigration {
  protected readonly sqlite = `
    create table "field_alias" ("product_key" integer not null, "identifier" text not null, "field_key" integer not null, primary key ("product_key", "identifier"), constraint "field_alias_product_key_foreign" foreign key ("product_key") references "product" ("key") on delete cascade, constraint "field_alias_field_key_foreign" foreign key ("field_key") references "field" ("key") on delete cascade);
    create index "field_alias_product_key_index" on "field_alias" ("product_key");
    create index "field_alias_field_key_index" on "field_alias" ("field_key");
  `;

  protected readonly postgres = `
    create table "field_alias" ("product_key" int not null, "identifier" varchar(64) not null, "field_key" int not null, primary key ("product_key", "identifier"));
    create index "field_alias_field_key_index" on "field_alias" ("field_key");
    alter table "field_alias" add constraint "field_alias_product_key_foreign" foreign key ("product_key") references "product" ("key") on delete cascade;
    alter table "field_alias" add constraint "field_alias_field_key_foreign" foreign key ("field_key") references "field" ("key") on delete cascade;
  `;
}
