import { DialectMigration } from './dialect-migration.ts';

/**
 * Says of each field what its numbers are (CONTRACT 7, Meaning), of a counter where it begins again from 0, and of texts whether
 * numbers among them were true and false.
 */
export class MeaningOfFields extends DialectMigration {
  protected readonly sqlite = `
    alter table "field" add column "meaning" text not null default 'GAUGE';
    alter table "field" add column "overflow_at" double null;
    alter table "field" add column "was_boolean" integer not null default false;
  `;

  protected readonly postgres = `
    alter table "field" add column "meaning" varchar(10) not null default 'GAUGE';
    alter table "field" add column "overflow_at" double precision null;
    alter table "field" add column "was_boolean" boolean not null default false;
  `;
}
