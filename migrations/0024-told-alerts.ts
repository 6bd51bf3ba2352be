import { DialectMigration } from './dialect-migration.ts';

/** Adds who is told of a rule's alerts, and what was told of each. */
export class ToldAlerts extends DialectMigration {
  protected readonly sqlite = `
    alter table "rule" add column "notify" text null;
    alter table "alert" add column "told" text null;
    alter table "alert" add column "tell_at" bigint null;
    create index "alert_tell_at_index" on "alert" ("tell_at");
  `;

  protected readonly postgres = `
    alter table "rule" add column "notify" text null;
    alter table "alert" add column "told" text null, add column "tell_at" bigint null;
    create index "alert_tell_at_index" on "alert" ("tell_at");
  `;
}
