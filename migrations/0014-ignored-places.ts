import { DialectMigration } from './dialect-migration.ts';

/** Whether a product takes the place (0,0) for a tracker without a fix. */
export class IgnoredPlaces extends DialectMigration {
  protected readonly sqlite = `
    alter table "product" add column "ignore_zero_places" integer not null default false;
  `;

  protected readonly postgres = `
    alter table "product" add column "ignore_zero_places" boolean not null default false;
  `;
}
