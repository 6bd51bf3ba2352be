import { DialectMigration } from './dialect-migration.ts';

/**
 * When a network last sent an identifier that several devices had. Of a name that stood in an entry on a product's webhook:
 * the product, and of each call its id in the product's log, which has the rest of it.
 */
export class KeptNames extends DialectMigration {
  protected readonly sqlite = `
    alter table "unknown_device" add column "ambiguous_at" bigint null;
    alter table "unknown_device" add column "product_key" integer null constraint "unknown_device_product_key_foreign" references "product" ("key") on delete cascade;
    alter table "unknown_call" add column "call_id" text null;
    create index "unknown_device_product_key_index" on "unknown_device" ("product_key");
  `;

  protected readonly postgres = `
    alter table "unknown_device" add column "ambiguous_at" bigint null;
    alter table "unknown_device" add column "product_key" int null;
    alter table "unknown_call" add column "call_id" varchar(36) null;
    alter table "unknown_device" add constraint "unknown_device_product_key_foreign" foreign key ("product_key") references "product" ("key") on delete cascade;
  `;
}
