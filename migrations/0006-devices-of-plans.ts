import { DialectMigration } from './dialect-migration.ts';

const INDEX = 'create index "device_workspace_id_plan_index" on "device" ("workspace_id", "plan");';

/** Those of a plan are counted before another one gets it: a few, beside any number of `unlimited` ones. */
export class DevicesOfPlans extends DialectMigration {
  protected readonly sqlite = INDEX;

  protected readonly postgres = INDEX;
}
