import { DialectMigration } from './dialect-migration.ts';

/** Adds the keys that authors choose for products, and the input that made a product with one. */
export class KeysOfProducts extends DialectMigration {
  protected readonly sqlite = `
    alter table "product" add column "author_key" text null;
    alter table "product" add column "created_from" json null;
    create unique index "product_workspace_id_author_key_unique" on "product" ("workspace_id", "author_key");
  `;

  protected readonly postgres = `
    alter table "product" add column "author_key" varchar(64) null;
    alter table "product" add column "created_from" jsonb null;
    alter table "product" add constraint "product_workspace_id_author_key_unique" unique ("workspace_id", "author_key");
  `;
}
