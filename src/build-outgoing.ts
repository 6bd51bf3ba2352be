import type { Logger } from 'pino';
import type { Closers } from './closers.ts';
import type { AuditLog } from './domain/audit/audit-log.ts';
import { Deliveries } from './domain/outgoing/deliveries.ts';
import { DeliveryFeed } from './domain/outgoing/delivery-feed.ts';
import { EndpointService } from './domain/outgoing/endpoint-service.ts';
import { FiringAlerts } from './domain/outgoing/firing-alerts.ts';
import { Outbox } from './domain/outgoing/outbox.ts';
import { repeatAlerts } from './domain/outgoing/repeater.ts';
import { Sender, type SenderWatch } from './domain/outgoing/sender.ts';
import { sweepDeliveries } from './domain/outgoing/sweep-deliveries.ts';
import type { Cluster } from './domain/ports/cluster.ts';
import type { Database } from './domain/ports/database.ts';
import type { Transmitter } from './domain/ports/transmitter.ts';
import { Sweeper } from './scheduling/sweeper.ts';

/** The way out, and what is told of it. */
export interface WayOut {
  transmitter: Transmitter;
  /** Called for metrics. */
  watchSending?: Partial<Pick<SenderWatch, 'onTried' | 'onSwitchedOff'>> | undefined;
}

interface OutgoingDeps extends WayOut {
  database: Database;
  auditLog: AuditLog;
  cluster: Cluster;
  now: () => number;
  log: Logger;
}

const SWEEP_MS = 600_000;
/** How often is looked whether an Alertmanager is to be told again. */
const REPEAT_MS = 30_000;

/** Builds what leaves the server: endpoints, the outbox, and what sends it once `sender.start` is called. */
export function createOutgoing(deps: OutgoingDeps, closers: Closers) {
  const { database: bare, auditLog, cluster, transmitter, watchSending, now, log } = deps;
  const { database } = auditLog;
  const wake = (): void => sender.wake();
  const onError = (error: unknown): void => log.warn({ err: error }, 'sending what waits for endpoints');
  const deliveryFeed = new DeliveryFeed({ database: bare, cluster, onError });
  const firing = new FiringAlerts(bare);
  const sender = new Sender({
    database: bare,
    cluster,
    transmitter,
    feed: deliveryFeed,
    firing,
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
  });
  closers.add('outgoing calls', () => sender.stop());
  const sweeper = new Sweeper({
    everyMs: SWEEP_MS,
    sweep: (isStopping) => sweepDeliveries({ database: bare, now }, isStopping),
    onError: (error) => log.warn({ err: error }, 'forgetting what is old: deliveries'),
  });
  closers.add('forgetting: deliveries', () => sweeper.stop());
  const repeater = new Sweeper({
    everyMs: REPEAT_MS,
    sweep: (isStopping) => repeatAlerts({ database: bare, firing, transmitter, now }, isStopping),
    onError,
  });
  closers.add('repeated alerts', () => repeater.stop());
  const endpoints = new EndpointService({
    database,
    sendsMail: transmitter.sendsMail,
    onChange: wake,
    now,
  });
  const deliveries = new Deliveries({ database, endpoints, transmitter, feed: deliveryFeed, onWake: wake, now });
  return { sender, outbox: new Outbox({ database: bare, now, onWake: wake }), endpoints, deliveries, deliveryFeed };
}
