import type { Logger } from 'pino';
import type { Closers } from './closers.ts';
import type { AuditLog } from './domain/audit/audit-log.ts';
import { Deliveries } from './domain/outgoing/deliveries.ts';
import { DeliveryFeed } from './domain/outgoing/delivery-feed.ts';
import { EndpointService } from './domain/outgoing/endpoint-service.ts';
import { FiringAlerts } from './domain/outgoing/firing-alerts.ts';
import { OutboxDepth } from './domain/outgoing/outbox-depth.ts';
import { Outbox } from './domain/outgoing/outbox.ts';
import { repeatAlerts } from './domain/outgoing/repeater.ts';
import { ReaderLeases } from './domain/outgoing/reader-leases.ts';
import { RecordedEntries } from './domain/outgoing/recorded-entries.ts';
import { RecordedSender } from './domain/outgoing/recorded-sender.ts';
import { Sender, type SenderDeps, type SenderWatch } from './domain/outgoing/sender.ts';
import { sweepDeliveries } from './domain/outgoing/sweep-deliveries.ts';
import type { CallFeed } from './domain/calls/call-feed.ts';
import type { StatusWatch } from './domain/device-status/status-watch.ts';
import { CallFailures } from './domain/outgoing/call-failures.ts';
import { StatusSender } from './domain/outgoing/status-sender.ts';
import type { DeviceCache } from './domain/devices/device-cache.ts';
import type { IngestCache } from './domain/ingest-cache/ingest-cache.ts';
import type { RecordedFeed } from './domain/live/recorded-feed.ts';
import type { MeasurementStore } from './domain/ports/store.ts';
import type { Cluster } from './domain/ports/cluster.ts';
import type { Database } from './domain/ports/database.ts';
import type { Transmitter } from './domain/ports/transmitter.ts';
import { Sweeper } from './scheduling/sweeper.ts';

/** The way out, and what is told of it. */
export interface WayOut {
  transmitter: Transmitter;
  /** Called for metrics. */
  watchSending?: Partial<Pick<SenderWatch, 'onTried' | 'onSwitchedOff'>> | undefined;
  /** BASE_URL without a final slash; left out: unknown. */
  baseUrl?: (() => string) | undefined;
}

type TellingDeps = SenderWatch & Pick<SenderDeps, 'transmitter' | 'tellAudit' | 'now'>;

interface OutgoingDeps extends WayOut {
  database: Database;
  auditLog: AuditLog;
  cluster: Cluster;
  now: () => number;
  log: Logger;
}

const SWEEP_MS = 600_000;
/** How often is measured how much waits. */
const MEASURE_MS = 15_000;
/** How often is looked whether an Alertmanager is to be told again. */
const REPEAT_MS = 30_000;

/** Builds what leaves the server: endpoints, the outbox, and what sends it once `sender.start` is called. */
export function createOutgoing(deps: OutgoingDeps, closers: Closers) {
  const { database: bare, auditLog, cluster, transmitter, watchSending, now, log } = deps;
  const { database } = auditLog;
  const wake = (): void => sender.wake();
  const listeners = [wake];
  const onChange = (): void => {
    for (const listener of listeners) listener();
  };
  const onError = (error: unknown): void => log.warn({ err: error }, 'sending what waits for endpoints');
  const deliveryFeed = new DeliveryFeed({ database: bare, cluster, onError });
  const firing = new FiringAlerts(bare);
  const told: TellingDeps = {
    transmitter,
    tellAudit: (em, { target, reason }) =>
      auditLog.tellOwn(em, {
        operation: 'disableEndpoint',
        by: 'the server',
        workspaceId: target.workspaceId,
        subjects: [target.id],
        facts: { name: target.name, reason },
      }),
    onTried: (outcome) => watchSending?.onTried?.(outcome),
    onSwitchedOff: (off) => {
      const { id, workspaceId } = off.target;
      log.warn({ endpointId: id, workspaceId, reason: off.reason }, 'an endpoint was switched off');
      watchSending?.onSwitchedOff?.(off);
    },
    onError,
    now,
  };
  const sender = new Sender({ ...told, database: bare, cluster, feed: deliveryFeed, firing });
  closers.add('outgoing calls', () => sender.stop());
  const outboxDepth = new OutboxDepth(bare, now);
  const endpoints = new EndpointService({
    database,
    sendsMail: transmitter.sendsMail,
    onChange,
    now,
  });
  const deliveries = new Deliveries({ database, endpoints, transmitter, feed: deliveryFeed, onWake: wake, now });
  const outbox = new Outbox({ database: bare, now, onWake: wake });
  const { sendsMail } = transmitter;
  const sendingDeps = { told, listeners };
  const onEndpoints = onChange;
  const sweep = (name: string, everyMs: number, work: (isStopping: () => boolean) => Promise<void>): void => {
    const sweeper = new Sweeper({ everyMs, sweep: work, onError });
    closers.add(name, () => sweeper.stop());
  };
  /** Begins to send, and all that goes on beside it. */
  const startSending = (): void => {
    sender.start();
    sweep('forgetting: deliveries', SWEEP_MS, (isStopping) => sweepDeliveries({ database: bare, now }, isStopping));
    sweep('repeated alerts', REPEAT_MS, (isStopping) =>
      repeatAlerts({ database: bare, firing, transmitter, now }, isStopping),
    );
    sweep('depth of the outbox', MEASURE_MS, () => outboxDepth.measure());
  };
  return {
    startSending,
    sender,
    outbox,
    outboxDepth,
    endpoints,
    deliveries,
    deliveryFeed,
    sendsMail,
    onEndpoints,
    sendingDeps,
  };
}

interface ReadersDeps extends WayOut {
  bare: Database;
  store: MeasurementStore;
  feed: RecordedFeed;
  devices: DeviceCache;
  ingestCache: IngestCache;
  statusWatch: StatusWatch;
  callFeed: CallFeed;
  outbox: Outbox;
  sendingDeps: { told: TellingDeps; listeners: (() => void)[] };
  now: () => number;
}

/** Builds what follows recorded values on behalf of endpoints, once it is started. */
export function createOutgoingReaders(deps: ReadersDeps, closers: Closers) {
  const {
    bare: database,
    store,
    feed,
    devices,
    ingestCache,
    statusWatch,
    callFeed,
    outbox,
    baseUrl = () => '',
    now,
  } = deps;
  const { told, listeners } = deps.sendingDeps;
  const { onError } = told;
  const leases = new ReaderLeases(database, now);
  const entries = new RecordedEntries({ database, devices, ingestCache });
  const recordedSender = new RecordedSender({ ...told, database, store, feed, entries, leases, baseUrl });
  closers.add('recorded values for endpoints', () => recordedSender.stop());
  const statusSender = new StatusSender({ database, store, statusWatch, outbox, leases, now, onError });
  closers.add('silent devices for endpoints', () => statusSender.stop());
  const callFailures = new CallFailures({ database, store, outbox, now, onError });
  callFeed.onCalled((productId, row) => callFailures.note(productId, row));
  closers.add('failed calls for endpoints', () => callFailures.stop());
  for (const each of [recordedSender, statusSender]) listeners.push(() => each.wake());
  return { recordedSender, statusSender, callFailures };
}
