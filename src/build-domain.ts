import type { Logger } from 'pino';
import { createAlerts } from './build-alerts.ts';
import type { Closers } from './closers.ts';
import { createConfiguration } from './build-configuration.ts';
import { createOutgoing, createOutgoingReaders, type WayOut } from './build-outgoing.ts';
import type { Config } from './config.ts';
import type { Database } from './domain/ports/database.ts';
import type { Cluster } from './domain/ports/cluster.ts';
import { CallRunner } from './domain/decoders/call-runner.ts';
import { checkSource, requireDecoderFunction } from './domain/decoders/check-source.ts';
import type { DecoderEngine } from './domain/decoders/decoder-engine.ts';
import { DecoderExamples } from './domain/decoders/decoder-examples.ts';
import { DecoderService } from './domain/decoders/decoder-service.ts';
import { EntryJudge } from './domain/decoders/entry-judge.ts';
import { DashboardService } from './domain/dashboards/dashboard-service.ts';
import { DeviceFinder } from './domain/ingest-cache/device-finder.ts';
import { DeviceClients } from './domain/devices/device-clients.ts';
import { DeviceList } from './domain/devices/device-list.ts';
import { DevicesByValue } from './domain/finding/devices-by-value.ts';
import type { EndAlerts } from './domain/devices/device-rows.ts';
import { DeviceService } from './domain/devices/device-service.ts';
import { handOverLateValues, sweepLateValues } from './domain/measurements/sweep-late-values.ts';
import { StatusWatch } from './domain/device-status/status-watch.ts';
import { NoteService } from './domain/notes/note-service.ts';
import { WriteRateService } from './domain/devices/write-rate-service.ts';
import { FieldRemovals } from './domain/products/field-removals.ts';
import { FieldService } from './domain/products/field-service.ts';
import { NamedDevices } from './domain/receiving/named-devices.ts';
import { NetworkReceiver } from './domain/receiving/network-receiver.ts';
import { RecordedFeed } from './domain/live/recorded-feed.ts';
import { type NodePlace, type ReceiptMarks, ReceiptTimes } from './domain/measurements/receipt-times.ts';
import { History } from './domain/history/history.ts';
import { Recorder } from './domain/measurements/recorder.ts';
import { WriteShares } from './scheduling/write-shares.ts';
import type { MeasurementStore } from './domain/ports/store.ts';
import type { Yaml } from './domain/ports/yaml.ts';
import { Suggestions } from './domain/measurements/suggestions.ts';
import { ValueTally } from './domain/measurements/value-tally.ts';
import type { WriteLimiter } from './domain/measurements/write-limiter.ts';
import { IngestCache } from './domain/ingest-cache/ingest-cache.ts';
import { ConfigurationService } from './domain/products/configuration-service.ts';
import { ProductService } from './domain/products/product-service.ts';
import { DeviceMoves } from './domain/moves/device-moves.ts';
import { MovedStore } from './domain/moves/moved-store.ts';
import { StoredKeys } from './domain/moves/stored-keys.ts';
import { Exporter } from './domain/transfer/exporter.ts';
import { AccessLinks } from './domain/accounts/access-links.ts';
import { BulkChanges } from './domain/devices/bulk-changes.ts';
import { DeviceImporter } from './domain/transfer/device-importer.ts';
import { HistoryAtRisk } from './domain/plans/history-at-risk.ts';
import { Importer } from './domain/transfer/importer.ts';
import { Authenticator } from './domain/accounts/authenticator.ts';
import { TokenService } from './domain/accounts/token-service.ts';
import { Passwords } from './domain/accounts/password.ts';
import { PasswordThrottle } from './domain/accounts/password-throttle.ts';
import { UserService } from './domain/accounts/user-service.ts';
import { CallFeed } from './domain/calls/call-feed.ts';
import { CallLog } from './domain/calls/call-log.ts';
import { CallSearch } from './domain/calls/call-search.ts';
import { type Frames, LocalFrames } from './domain/calls/frames.ts';
import { LoggedFrames } from './domain/calls/logged-frames.ts';
import { sweepCalls } from './domain/receiving/sweep-calls.ts';
import { Plans } from './domain/plans/plans.ts';
import { sweepRetention, type SweptHistory } from './domain/plans/sweep-retention.ts';
import { AuditLog } from './domain/audit/audit-log.ts';
import { ActiveTenants } from './scheduling/active-tenants.ts';
import { Sweeper } from './scheduling/sweeper.ts';
import { FairScheduler } from './scheduling/fair-scheduler.ts';
import { Replay } from './domain/replay/replay.ts';
import { UnknownDevices } from './domain/receiving/unknown-devices.ts';
import { LineReceiver } from './domain/receiving/line-receiver.ts';
import { WebhookReceiver } from './domain/receiving/webhook-receiver.ts';
import { WorkspaceRemoval } from './domain/products/workspace-removal.ts';
import { WorkspaceService } from './domain/accounts/workspace-service.ts';

const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000];

interface DomainDeps extends WayOut {
  config: Config;
  database: Database;
  store: MeasurementStore;
  cluster: Cluster;
  limiter: WriteLimiter;
  /** Left out: the frames of this node alone. */
  frames?: Frames;
  engine: DecoderEngine;
  yaml: Yaml;
  onRejected?: (code: string) => void;
  /** Called with the number of values that a sweep has deleted. */
  onForgotten?: (values: number) => void;
  /** Place of this node among those on the same database; left out: it is alone. */
  nodePlace?: () => NodePlace;
  receiptMarks?: ReceiptMarks;
  now: () => number;
  log: Logger;
}

/** All services of the domain, as `createDomain` builds them once for the process. */
export type Domain = ReturnType<typeof createDomain>;

/** Builds every object of the domain, in order of need. */
export function createDomain(deps: DomainDeps, closers: Closers) {
  const {
    config,
    database: bare,
    store: bareStore,
    cluster,
    limiter,
    frames = new LocalFrames(),
    engine,
    onRejected,
    onForgotten,
    nodePlace,
    receiptMarks,
    now,
    log,
  } = deps;
  const auditLog = new AuditLog({ database: bare, now });
  const { database } = auditLog;
  const outgoing = createOutgoing({ ...deps, auditLog }, closers);
  const checkDecoder = async (source: string, workspaceId: string, tokenId: string): Promise<void> => {
    await checkSource(engine, source, workspaceId, tokenId);
    const remedy = 'create the product without it and use saveDecoder with "force".';
    await requireDecoderFunction(engine, workspaceId, tokenId, source, remedy);
  };

  const keys = new StoredKeys(bare, cluster);
  const store = new MovedStore(bareStore, keys);
  const authenticator = new Authenticator(bare, cluster, now);
  closers.add('times of last use', () => authenticator.stop());
  const plans = new Plans(config.planRetentionDays);
  const ingestCache = new IngestCache(bare, cluster, config.writeRatePerField, (slug) => plans.keeps(slug));
  const suggestions = new Suggestions(bare);
  const valueTally = new ValueTally(bare, now);
  closers.add('suggested fields and values a day', () => Promise.all([suggestions.stop(), valueTally.stop()]));
  const onLiveError = (error: unknown): void => log.warn({ err: error }, 'reading live values');
  const feed = new RecordedFeed({ store, cluster, now, onError: onLiveError });
  closers.add('live values', () => feed.stop());
  const receiptTimes = new ReceiptTimes(nodePlace, undefined, receiptMarks);
  const checking = { suggestions, valueTally, receiptTimes, maxFutureMs: config.maxFutureMs, now };
  const writeShares = new WriteShares();
  const recorder = new Recorder({ store, limiter, shares: writeShares, feed, ...checking, onRejected });
  const history = new History(store, now);

  const tokens = new TokenService({ database, cluster, now });
  const monotonic = (): number => performance.now();
  const signIns = new PasswordThrottle(monotonic);
  const passwordChanges = new PasswordThrottle(monotonic);
  const passwords = new Passwords();
  const users = new UserService({ database, cluster, passwords, signIns, passwordChanges, tokens, now });
  const workspaces = new WorkspaceService({ database, cluster, now });
  const endAlerts: EndAlerts = (em, keys) => watched.ruleEnds.endAlertsOfDevices(em, keys);
  const products = new ProductService({ database, cluster, store, checkDecoder, endAlerts, now });
  const workspaceRemoval = new WorkspaceRemoval({ authenticator, database, cluster, products, now });
  // Long deletions do not delay a stop: they are written down, and the next start continues them.
  let isClosing = false;
  const waiting = new Set<() => void>();
  const untilClosing = async (forgetting: Promise<unknown>): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (isClosing) resolve();
    waiting.add(resolve);
    await Promise.race([forgetting, promise]).finally(() => waiting.delete(resolve));
  };
  const settling = {
    showHeard: () => store.showHeard(),
    settlePurges: () => untilClosing(store.settlePurges()),
  };
  const removals = new FieldRemovals({
    database: bare,
    store: settling,
    onError: (error) => log.warn({ err: error }, 'forgetting the values of a removed field'),
  });
  const fields = new FieldService({ database, cluster, store, removals, suggestions, now });
  const moves = new DeviceMoves({ database: bare, cluster, store });
  const devices = new DeviceService({ database, cluster, store, moves, plans, endAlerts, now });
  const configurations = new ConfigurationService({ database, cluster, now });
  const shares = new FairScheduler();
  const byValue = new DevicesByValue({ ingestCache, history });
  const deviceList = new DeviceList({ database, store, ingestCache, shares, byValue, now });
  const deviceFinder = new DeviceFinder(ingestCache);
  const { lineDeviceTags: deviceTags } = config;
  const statusWatch = new StatusWatch({
    database: bare,
    store,
    feed,
    cluster,
    now,
    onError: (error) => log.warn({ err: error }, 'watching which devices are online'),
  });
  closers.add('device status', () => statusWatch.stop());
  const watching = { ...deps, ...outgoing, bare, audited: database, store, history, ingestCache, feed };
  const watched = createAlerts(watching, closers);
  const callFeed = new CallFeed(cluster, store);
  const readers = createOutgoingReaders({ ...watching, statusWatch, callFeed, devices: watched.deviceCache }, closers);
  const exporter = new Exporter({ authenticator, store, history, devices: deviceList, ingestCache, shares });
  const importer = new Importer({
    authenticator,
    ingestCache,
    devices: deviceFinder,
    recorder,
    store,
    shares,
    rules: watched.ruleBook,
    liveWindowMs: config.liveWindowMs,
    maxFutureMs: config.maxFutureMs,
    now,
  });
  const atRisk = new HistoryAtRisk({ database: bare, store, plans, now });
  const deviceImporter = new DeviceImporter({ authenticator, database, cluster, plans, atRisk, shares, now });
  const writeRates = new WriteRateService({ database, cluster, defaultRate: config.writeRatePerField });

  const judge = new EntryJudge({ ingestCache, ...checking });
  const senders = new ActiveTenants();
  const runner = new CallRunner({ engine, ingestCache, history, judge, senders });
  const examples = new DecoderExamples({ database, ingestCache, runner, now });
  const decoders = new DecoderService({ database, ingestCache, cluster, store, engine, runner, examples, now });
  const configuring = {
    ...deps,
    ...outgoing,
    audited: database,
    store,
    engine,
    examples,
    ingestCache,
    plans,
    atRisk,
    shares,
  };
  const documents = createConfiguration({ ...configuring, products, removals, suggestions, rules: watched.ruleEnds });
  const calls = new CallLog({ ingestCache, store, feed: callFeed, shares });
  const replaying = { authenticator, ingestCache, store, keys, recorder, runner, receiptTimes, shares, now };
  const replay = new Replay({ ...replaying, feed: callFeed, rules: watched.ruleBook });
  const named = new NamedDevices({ ...outgoing, database, ingestCache, devices, replay, store, now });
  closers.add('named devices', () => named.settled());
  const receiving = {
    ingestCache,
    runner,
    recorder,
    store,
    shares: writeShares,
    frames: new LoggedFrames({ frames, store, now }),
    feed: callFeed,
    named,
    bodyBytes: config.callLog.bodyBytes,
    now,
  };
  const webhookReceiver = new WebhookReceiver(receiving);
  const adopted = { ...outgoing, authenticator, database, ingestCache, devices, named, now };
  const adopting = { ...adopted, receiver: webhookReceiver };
  const unknownDevices = new UnknownDevices(adopting);
  closers.add('unknown devices', () => unknownDevices.stop());
  const networkReceiver = new NetworkReceiver(deviceFinder, webhookReceiver, unknownDevices);

  const sweep = (what: string, everyMs: number, work: (isStopping: () => boolean) => Promise<void>): void => {
    const onError = (error: unknown): void => log.warn({ err: error }, `forgetting what is old: ${what}`);
    const sweeper = new Sweeper({ everyMs, sweep: work, onError });
    closers.add(`forgetting: ${what}`, () => sweeper.stop());
  };
  const removeCalls = (...asked: Parameters<typeof store.removeCalls>): Promise<void> =>
    untilClosing(store.removeCalls(...asked));
  const callSweep = { store: { removeCalls }, unknownDevices, products, days: config.callLog.days, now };
  sweep('call log', 10 * MINUTE_MS, (isStopping) => sweepCalls(callSweep, () => isClosing || isStopping()));
  const late = { database: bare, store: settling, now };
  sweep('late values of what is gone', 10 * MINUTE_MS, (isStopping) =>
    sweepLateValues(late, () => isClosing || isStopping()),
  );
  sweep('late values of what was absorbed', 2_000, () => handOverLateValues(late));
  const onLeftOut = (error: unknown, deviceKey: number): void =>
    log.warn({ err: error, deviceKey }, 'forgetting what is old: a device was left out until the next time');
  const onSwept = async (swept: SweptHistory): Promise<void> => {
    onForgotten?.(swept.measurements);
    log.info(swept, 'history older than its plan keeps was deleted');
    await auditLog.tellSwept(swept);
  };
  const retention = { database: bare, store, plans, now, onLeftOut, onSwept };
  sweep('retention', 360 * MINUTE_MS, (isStopping) => sweepRetention(retention, isStopping));
  sweep('audit log', 60 * MINUTE_MS, (isStopping) =>
    auditLog.forgetBefore(now() - config.auditLogDays * DAY_MS, isStopping),
  );
  // First, so that no deletion is waited for.
  closers.add('values of removed fields', () => {
    isClosing = true;
    for (const goOn of waiting) goOn();
    return removals.stop();
  });

  return {
    store,
    shares,
    senders,
    auditLog,
    authenticator,
    ingestCache,
    suggestions,
    valueTally,
    feed,
    recorder,
    history,
    tokens,
    users,
    workspaces,
    workspaceRemoval,
    products,
    fields,
    ...watched,
    plans,
    devices,
    deviceList,
    dashboards: new DashboardService({ database, devices: deviceList, now }),
    deviceFinder,
    deviceClients: new DeviceClients(),
    notes: new NoteService(database, now),
    statusWatch,
    exporter,
    importer,
    deviceImporter,
    bulkChanges: new BulkChanges({ database, cluster, list: deviceList, plans, atRisk, now }),
    accessLinks: new AccessLinks({ database, cluster, passwords, users, tokens, now }),
    writeRates,
    runner,
    examples,
    decoders,
    callFeed,
    calls,
    callSearch: new CallSearch(calls, ingestCache),
    replay,
    webhookReceiver,
    lineReceiver: new LineReceiver({ authenticator, devices: deviceFinder, recorder, deviceTags }),
    networkReceiver,
    unknownDevices,
    configurations,
    ...documents,
    ...outgoing,
    ...readers,
  };
}
