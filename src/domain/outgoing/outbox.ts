import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/sql';
import type { Database } from '../ports/database.ts';
import { rowsOf } from '../sql/json-rows.ts';
import { uuidV7 } from '../text/uuid.ts';
import { ALERTS_AT_ONCE } from './firing-alerts.ts';
import { type EventType, isAlertEvent } from './event-types.ts';
import { readRecipients, type Recipient } from './recipients.ts';

/** Something that happened, for the endpoints that want it. */
export interface OutgoingEvent {
  /** Same event, same key: written a second time it is nothing. Becomes the webhook-id (hashed, `msg_…`). */
  key: string;
  type: EventType;
  workspaceId: string;
  productId: string | null;
  deviceId: string | null;
  /** Tags of the device. */
  tags: readonly string[];
  /** Ids of the endpoints that a rule names; null: every endpoint of the workspace that wants the type. */
  endpointIds: readonly string[] | null;
  at: Date;
  /** The `data` of the body. */
  data: Record<string, unknown>;
}

/** Maximum entries of a list `data.alerts` that a message has; an Alertmanager is told of all. */
const MAX_ALERTS_TOLD = 50;
/** Reason of a delivery that was never tried, because too much waited. */
const FULL = 'Too much waits for this endpoint already; this was not queued, and can be sent again.';

interface OutboxDeps {
  database: Pick<Database, 'dialect'>;
  now: () => number;
  /** Called by `wake`. */
  onWake: () => void;
}

/** Events on their way out, written in the transaction of what they tell of (CONTRACT 13). */
export class Outbox {
  readonly #deps: OutboxDeps;

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
  }

  /** Within the caller's transaction: a row for each endpoint that gets it. */
  async write(em: EntityManager, events: readonly OutgoingEvent[]): Promise<void> {
    if (events.length === 0) return;
    const recipients = await readRecipients(em, [...new Set(events.map(({ workspaceId }) => workspaceId))]);
    const now = this.#deps.now();
    const rows = events.flatMap((event) =>
      recipients
        .filter((recipient) => wants(recipient, event))
        .flatMap((recipient) => partsOf(event, recipient).map((part) => rowOf(part, recipient, now))),
    );
    if (rows.length === 0) return;
    const { dialect } = this.#deps.database;
    const item = (at: number, type: string): string =>
      dialect === 'sqlite' ? `value->>${at}` : `(value->>${at})::${type}`;
    const waiting = rows.filter((row) => row.status === 'WAITING');
    const lanes = new Map(waiting.map((row) => [`${row.endpointKey} ${row.lane}`, [row.endpointKey, row.lane, now]]));
    // Lanes first and in one order: whoever ends the last delivery of one waits for this, or makes this begin it anew.
    await em.execute(
      `insert into delivery_lane (endpoint_key, lane, next_at) select ${item(0, 'int')}, ${item(1, 'text')}, ${item(2, 'bigint')}
       from ${rowsOf(dialect)} where true order by 1, ${item(1, 'text')} ${dialect === 'sqlite' ? '' : 'collate "C"'}
       on conflict (endpoint_key, lane) do update set endpoint_key = excluded.endpoint_key`,
      [JSON.stringify([...lanes.values()])],
      'run',
    );
    await em.execute(
      `insert into delivery (id, endpoint_key, message_id, lane, type, status, created_at, settled_at, tries, attempts, body)
       select ${item(0, 'text')}, ${item(1, 'int')}, ${item(2, 'text')}, ${item(3, 'text')}, ${item(4, 'text')}, ${item(5, 'text')},
         ${item(6, 'bigint')}, ${item(7, 'bigint')}, 0, ${item(8, 'text')}, ${item(9, 'text')}
       from ${rowsOf(dialect)} where true on conflict (endpoint_key, message_id) do nothing`,
      [
        JSON.stringify(
          rows.map(({ id, endpointKey, messageId, lane, type, status, createdAt, settledAt, attempts, body }) => [
            id,
            endpointKey,
            messageId,
            lane,
            type,
            status,
            createdAt,
            settledAt,
            attempts,
            body,
          ]),
        ),
      ],
      'run',
    );
  }

  /** Call after the commit: the sender looks now instead of at its next look. */
  wake(): void {
    this.#deps.onWake();
  }
}

/** The webhook-id of an event: the same for the same key, and tells nothing of it. */
export function messageIdOf(workspaceId: string, key: string): string {
  return `msg_${createHash('sha256').update(`${workspaceId}\n${key}`).digest('base64url').slice(0, 27)}`;
}

/** The body of a message (Standard Webhooks 1.0). */
export function bodyOf(type: string, at: Date, data: unknown): string {
  return JSON.stringify({ type, timestamp: at.toISOString(), data });
}

/**
 * True when the recipient gets the event. One that a rule names gets its alerts whatever products and tags it has, and
 * all three kinds of them unless it names some.
 */
function wants(recipient: Recipient, event: OutgoingEvent): boolean {
  const { events, productIds, tags } = recipient;
  if (recipient.workspaceId !== event.workspaceId) return false;
  if (event.endpointIds !== null)
    return event.endpointIds.includes(recipient.id) && (events.includes(event.type) || !events.some(isAlertEvent));
  if (!events.includes(event.type)) return false;
  if (productIds !== null && (event.productId === null || !productIds.includes(event.productId))) return false;
  return tags.every((tag) => event.tags.includes(tag));
}

/** An event as the recipient is told of it: alerts of many devices in one message with the first of them, or in several. */
function partsOf(event: OutgoingEvent, { kind }: Recipient): OutgoingEvent[] {
  const { alerts } = event.data;
  if (!Array.isArray(alerts)) return [event];
  const told = alerts as unknown[];
  const withAlerts = (some: unknown[]): OutgoingEvent => ({ ...event, data: { ...event.data, alerts: some } });
  if (kind !== 'ALERTMANAGER') return [withAlerts(told.slice(0, MAX_ALERTS_TOLD))];
  const parts: OutgoingEvent[] = [];
  for (let at = 0; at < told.length; at += ALERTS_AT_ONCE)
    parts.push({ ...withAlerts(told.slice(at, at + ALERTS_AT_ONCE)), key: `${event.key} ${at}` });
  return parts;
}

function rowOf(event: OutgoingEvent, { key, isFull }: Recipient, now: number) {
  const { type, workspaceId, deviceId, productId, at, data } = event;
  const messageId = messageIdOf(workspaceId, event.key);
  // Order is kept for a device, and for the alerts that a product tells together; anything else stands alone.
  const together = isAlertEvent(type) ? productId : null;
  return {
    id: uuidV7(now),
    endpointKey: key,
    messageId,
    lane: deviceId ?? together ?? messageId,
    type,
    status: isFull ? 'DEAD' : 'WAITING',
    createdAt: now,
    settledAt: isFull ? now : null,
    attempts: JSON.stringify(isFull ? [{ at: now, error: FULL, durationMs: 0 }] : []),
    body: bodyOf(type, at, data),
  };
}
