import { ConfigurationApply, type ConfigurationApplyDeps } from './domain/configuration/configuration-apply.ts';
import { ConfigurationExport } from './domain/configuration/configuration-export.ts';
import { ConfigurationPlans } from './domain/configuration/configuration-plans.ts';
import { DataAtRisk } from './domain/configuration/data-at-risk.ts';
import { DecoderChecks } from './domain/configuration/decoder-checks.ts';
import type { DecoderEngine } from './domain/decoders/decoder-engine.ts';
import type { DecoderExamples } from './domain/decoders/decoder-examples.ts';
import type { IngestCache } from './domain/ingest-cache/ingest-cache.ts';
import type { Database } from './domain/ports/database.ts';
import type { MeasurementStore } from './domain/ports/store.ts';
import type { Yaml } from './domain/ports/yaml.ts';
import type { FairScheduler } from './scheduling/fair-scheduler.ts';

interface ConfigurationDeps extends Omit<ConfigurationApplyDeps, 'planning'> {
  /** For planning, which changes nothing. */
  database: Database;
  /** For administration: its changes get their entry in the audit log. */
  audited: Database;
  store: MeasurementStore;
  yaml: Yaml;
  engine: DecoderEngine;
  examples: DecoderExamples;
  ingestCache: IngestCache;
  shares: FairScheduler;
}

/** Builds what writes, plans and applies documents of configuration. */
export function createConfiguration({ audited, ...deps }: ConfigurationDeps) {
  const configurationPlans = new ConfigurationPlans({
    ...deps,
    decoders: new DecoderChecks(deps),
    data: new DataAtRisk({ ...deps, database: audited }),
  });
  return {
    configurationExport: new ConfigurationExport({ ...deps, database: audited }),
    configurationPlans,
    configurationApply: new ConfigurationApply({ ...deps, database: audited, planning: configurationPlans }),
  };
}
