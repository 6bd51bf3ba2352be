import { DialectMigration } from './dialect-migration.ts';

/**
 * Devices whose plan was changed for one that keeps less, with the time before which nothing of them is swept; and how
 * products answer their senders.
 */
export class KeptHistory extends DialectMigration {
  protected readonly sqlite = `
    create table "retention_grace" ("device_key" integer not null primary key, "until" bigint not null, constraint "retention_grace_device_key_foreign" foreign key ("device_key") references "device" ("key") on update cascade on delete cascade);
    create table "product_answer" ("product_key" integer not null primary key, "always200" integer not null, "webhook" text null, constraint "product_answer_product_key_foreign" foreign key ("product_key") references "product" ("key") on update cascade on delete cascade);
    create index "retention_grace_device_key_index" on "retention_grace" ("device_key");
    create index "product_answer_product_key_index" on "product_answer" ("product_key");
  `;

  protected readonly postgres = `
    create table "retention_grace" ("device_key" int not null, "until" bigint not null, primary key ("device_key"));
    create table "product_answer" ("product_key" int not null, "always200" int not null, "webhook" text null, primary key ("product_key"));
    alter table "retention_grace" add constraint "retention_grace_device_key_foreign" foreign key ("device_key") references "device" ("key") on update cascade on delete cascade;
    alter table "product_answer" add constraint "product_answer_product_key_foreign" foreign key ("product_key") references "product" ("key") on update cascade on delete cascade;
  `;
}
