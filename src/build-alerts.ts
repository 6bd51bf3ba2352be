import type { EntityManager } from '@mikro-orm/sql';
import type { Logger } from 'pino';
import type { Closers } from './closers.ts';
import { AlertFigures } from './domain/alerts/alert-figures.ts';
import { AlertFeed } from './domain/alerts/alert-feed.ts';
import type { AlertOutbox } from './domain/alerts/alert-outbox.ts';
import { AlertService } from './domain/alerts/alert-service.ts';
import { ChangedDevices } from './domain/alerts/changed-devices.ts';
import { endAlerts, endAlertsOfDevices, lockReader } from './domain/alerts/alert-writing.ts';
import { Evaluator } from './domain/alerts/evaluator.ts';
import { Judgings } from './domain/alerts/judgings.ts';
import { sweepAlertEvents, sweepAlerts } from './domain/alerts/sweep-alerts.ts';
import { RuleBook } from './domain/alerts/rule-book.ts';
import { DeviceCache } from './domain/devices/device-cache.ts';
import type { History } from './domain/history/history.ts';
import type { IngestCache } from './domain/ingest-cache/ingest-cache.ts';
import type { RecordedFeed } from './domain/live/recorded-feed.ts';
import type { Cluster } from './domain/ports/cluster.ts';
import type { Database } from './domain/ports/database.ts';
import type { MeasurementStore } from './domain/ports/store.ts';
import { Sweeper } from './scheduling/sweeper.ts';
import { RuleService } from './domain/rules/rule-service.ts';

interface AlertsDeps {
  bare: Database;
  /** For administration: its changes get their entry in the audit log. */
  audited: Database;
  store: MeasurementStore;
  history: History;
  ingestCache: IngestCache;
  feed: RecordedFeed;
  cluster: Cluster;
  outbox: AlertOutbox;
  now: () => number;
  log: Logger;
}

const [MEASURE_MS, SWEEP_MS, SWEEP_EVENTS_MS] = [15_000, 6 * 3_600_000, 60_000];

/** Builds rules, what judges recorded values by the rules, and tells of alerts, in order of need. */
export function createAlerts(deps: AlertsDeps, closers: Closers) {
  const { bare: database, audited, store, history, ingestCache, feed, cluster, outbox, now, log } = deps;
  const alertFeed = new AlertFeed({
    database,
    onError: (error) => log.warn({ err: error }, 'reading changes of alerts'),
  });
  closers.add('changes of alerts', () => alertFeed.stop());
  const devices = new DeviceCache(database, cluster);
  const book = new RuleBook(database, cluster);
  const judgings = new Judgings({ database, store, history, ingestCache, devices, now });
  const onAlerts = (): void => alertFeed.changed();
  const evaluator = new Evaluator({
    database,
    store,
    judgings,
    book,
    changed: new ChangedDevices(database, cluster),
    feed,
    cluster,
    outbox,
    now,
    onError: (error) => log.warn({ err: error }, 'judging recorded values by the rules'),
    onSetAside: (deviceKey, error) =>
      log.error({ err: error, deviceKey }, 'a device could not be judged by the rules; it goes on with its next value'),
    onAlerts,
  });
  closers.add('rules', () => evaluator.stop());
  const alertFigures = new AlertFigures(database, evaluator);
  const measuring = new Sweeper({
    everyMs: MEASURE_MS,
    sweep: () => alertFigures.measure(),
    onError: (error) => log.warn({ err: error }, 'counting alerts'),
  });
  closers.add('figures of alerts', () => measuring.stop());
  const sweeper = new Sweeper({
    everyMs: SWEEP_MS,
    sweep: () => sweepAlerts({ database, now }),
    onError: (error) => log.warn({ err: error }, 'forgetting what is old: alerts'),
  });
  closers.add('forgetting: alerts', () => sweeper.stop());
  const eventSweeper = new Sweeper({
    everyMs: SWEEP_EVENTS_MS,
    sweep: () => sweepAlertEvents({ database, now }),
    onError: (error) => log.warn({ err: error }, 'forgetting what is old: changes of alerts'),
  });
  closers.add('forgetting: changes of alerts', () => eventSweeper.stop());
  const changing = { database, outbox, now, onAlerts };
  const ruleEnds = {
    lockAlerts: async (em: EntityManager) => void (await lockReader(em)),
    endAlerts: (em: EntityManager, ruleKey: number) => endAlerts(changing, em, ruleKey),
    endAlertsOfDevices: (em: EntityManager, keys: readonly number[]) => endAlertsOfDevices(changing, em, keys),
  };
  const rules = new RuleService({ database: audited, cluster, store, endAlerts: ruleEnds.endAlerts, now });
  const alerts = new AlertService({ database: audited, judgings, book, outbox, now, onAlerts });
  return { rules, ruleEnds, alertFeed, alerts, ruleBook: book, deviceCache: devices, alertFigures };
}
