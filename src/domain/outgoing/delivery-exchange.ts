import type { EntityManager } from '@mikro-orm/sql';
import type { EndpointKind } from '../entities/endpoint.ts';
import type { Database } from '../ports/database.ts';
import { rowsOf } from '../sql/json-rows.ts';
import { placeholders } from '../sql/long-columns.ts';
import type { DeliveryAttempt, Numbers } from './delivery-rows.ts';

/** How long whoever takes deliveries may take to send them: a node that died gives them back by its end. */
const LEASE_MS = 60_000;
/** Maximum tries kept per delivery; the oldest are forgotten. */
const MAX_KEPT_ATTEMPTS = 20;

/** An endpoint as sending needs it. */
export interface Target {
  key: number;
  id: string;
  workspaceId: string;
  name: string;
  kind: EndpointKind;
  url: string | null;
  addresses: readonly string[] | null;
  /** The present one, and the one before while it counts. */
  secrets: readonly string[];
  enabled: boolean;
  failingSince: number | null;
}

/** A delivery that this node may send until its lease ends. */
export interface TakenDelivery {
  key: number;
  id: string;
  endpointKey: number;
  lane: string;
  messageId: string;
  type: string;
  tries: number;
  attempts: DeliveryAttempt[];
  body: string;
  /** End of the lease, in ms UTC. */
  until: number;
}

interface TargetRow extends Numbers<Omit<Target, 'addresses' | 'secrets' | 'enabled'>, 'failingSince'> {
  addresses: string | string[] | null;
  enabled: number | boolean;
  secret: string | null;
  previousSecret: string | null;
  previousUntil: number | string | null;
}

interface TakenRow extends Numbers<Omit<TakenDelivery, 'attempts' | 'endpointKey' | 'until'>, 'key'> {
  attempts: string;
}

/** The end of a try: the lane goes on with the next delivery, or tries this one again at `nextAt` (ms UTC). */
export interface Settled {
  delivery: TakenDelivery;
  status: 'WAITING' | 'DELIVERED' | 'DEAD';
  attempt: DeliveryAttempt;
  nextAt: number;
}

/** The SQL by which nodes share deliveries: taken by moving the time of their lane to the end of a lease. */
export class DeliveryExchange {
  readonly #database: Database;
  readonly #holder: string;

  /** `holder`: the name of this node. */
  constructor(database: Database, holder: string) {
    this.#database = database;
    this.#holder = holder;
  }

  /** Each endpoint that is on and has something to send → the time of the next. */
  async nextTimes(em: EntityManager): Promise<Map<number, number>> {
    // Jumps from one endpoint to the next: all lanes may be thousands of each.
    const rows = await em.execute<{ key: number; at: number | string }[]>(
      `with recursive waiting (k) as (
         select min(endpoint_key) from delivery_lane
         union all select (select min(endpoint_key) from delivery_lane where endpoint_key > k) from waiting where k is not null
       ) select k as "key", (select min(next_at) from delivery_lane where endpoint_key = k) as at from waiting
         where k in (select "key" from endpoint where enabled)`,
    );
    return new Map(rows.map(({ key, at }) => [key, Number(at)]));
  }

  /** The endpoints with these keys, as they are now. */
  async targets(em: EntityManager, keys: readonly number[], now: number): Promise<Target[]> {
    if (keys.length === 0) return [];
    const rows = await em.execute<TargetRow[]>(
      `select "key", id, workspace_id as "workspaceId", name, kind, url, addresses, enabled, failing_since as "failingSince",
         secret, previous_secret as "previousSecret", previous_until as "previousUntil"
       from endpoint where "key" in (${placeholders(keys)})`,
      [...keys],
    );
    return rows.map(({ secret, previousSecret, previousUntil, addresses, enabled, failingSince, ...row }) => ({
      ...row,
      addresses: typeof addresses === 'string' ? (JSON.parse(addresses) as string[]) : addresses,
      secrets: [secret, Number(previousUntil ?? 0) > now ? previousSecret : null].filter((each) => each !== null),
      enabled: Boolean(enabled),
      failingSince: failingSince === null ? null : Number(failingSince),
    }));
  }

  /** Takes up to `most` deliveries of an endpoint that are due, each the first of its lane. */
  async take(em: EntityManager, endpointKey: number, most: number, now: number): Promise<TakenDelivery[]> {
    const lock = this.#database.dialect === 'postgres' ? 'for update skip locked' : '';
    const due = await em.execute<{ lane: string }[]>(
      `select lane from delivery_lane where endpoint_key = ? and next_at <= ? order by next_at limit ${most} ${lock}`,
      [endpointKey, now],
    );
    if (due.length === 0) return [];
    const lanes = due.map(({ lane }) => lane);
    const until = now + LEASE_MS;
    await em.execute(
      `update delivery_lane set next_at = ?, holder = ? where endpoint_key = ? and lane in (${placeholders(lanes)})`,
      [until, this.#holder, endpointKey, ...lanes],
      'run',
    );
    const rows = await em.execute<TakenRow[]>(
      `select "key", id, lane, message_id as "messageId", type, tries, attempts, body from delivery where "key" in (
         select min("key") from delivery where endpoint_key = ? and status = 'WAITING' and lane in (${placeholders(lanes)})
         group by lane)`,
      [endpointKey, ...lanes],
    );
    const taken = rows.map((row) => ({
      ...row,
      key: Number(row.key),
      endpointKey,
      attempts: JSON.parse(row.attempts) as DeliveryAttempt[],
      until,
    }));
    // Nothing waits there: what did was deleted.
    const found = new Set(taken.map(({ lane }) => lane));
    const empty = lanes.filter((lane) => !found.has(lane));
    await this.#endLanes(
      em,
      empty.map((lane) => [endpointKey, lane] as const),
    );
    return taken;
  }

  /** Writes down how tries ended, and lets their lanes go on; without effect where the lease was lost meanwhile. */
  async settle(em: EntityManager, settled: readonly Settled[], now: number): Promise<void> {
    if (settled.length === 0) return;
    const { dialect } = this.#database;
    const item = itemOf(dialect);
    const held = await this.#lock(
      em,
      settled.map(({ delivery: { endpointKey, lane } }) => [endpointKey, lane] as const),
    );
    const own = settled.filter(({ delivery }) => held.has(nameOf(delivery.endpointKey, delivery.lane)));
    await em.execute(
      `update delivery set status = ${item(1, 'text')}, settled_at = ${item(2, 'bigint')}, tries = ${item(3, 'int')}, attempts = ${item(4, 'text')}
       from ${rowsOf(dialect)} where delivery."key" = ${item(0, 'bigint')}`,
      [
        JSON.stringify(
          own.map(({ delivery: { key, tries, attempts }, status, attempt }) => [
            key,
            status,
            status === 'WAITING' ? null : now,
            tries + 1,
            JSON.stringify([...attempts, attempt].slice(-MAX_KEPT_ATTEMPTS)),
          ]),
        ),
      ],
      'run',
    );
    await this.#goOn(em, own, now);
  }

  /** Gives back what was taken and not tried. */
  async release(em: EntityManager, deliveries: readonly TakenDelivery[], now: number): Promise<void> {
    if (deliveries.length === 0) return;
    const lanes = deliveries.map(({ endpointKey, lane }) => [endpointKey, lane] as const);
    const held = await this.#lock(em, lanes);
    const own = lanes.filter(([endpointKey, lane]) => held.has(nameOf(endpointKey, lane)));
    await this.#setTimes(
      em,
      own.map(([endpointKey, lane]) => [endpointKey, lane, now]),
    );
  }

  /** Frees what a process before this one had taken; only where there is no other node. */
  async takeOver(em: EntityManager, now: number): Promise<void> {
    await em.execute('update delivery_lane set next_at = ?, holder = null where holder is not null', [now], 'run');
  }

  async #goOn(em: EntityManager, settled: readonly Settled[], now: number): Promise<void> {
    const isDone = ({ status }: Settled): boolean => status !== 'WAITING';
    const done = settled.filter(isDone).map(({ delivery: { endpointKey, lane } }) => [endpointKey, lane] as const);
    const again = settled.filter((each) => !isDone(each));
    await this.#setTimes(em, [
      ...again.map(({ delivery: { endpointKey, lane }, nextAt }) => [endpointKey, lane, Math.round(nextAt)] as const),
      ...done.map(([endpointKey, lane]) => [endpointKey, lane, now] as const),
    ]);
    await this.#endLanes(em, done);
  }

  /** Locks lanes in one order; returns the names of those that this node holds. */
  async #lock(em: EntityManager, lanes: readonly (readonly [number, string])[]): Promise<Set<string>> {
    const { dialect } = this.#database;
    const item = itemOf(dialect);
    const lock = dialect === 'postgres' ? 'order by l.endpoint_key, l.lane for update of l' : '';
    const rows = await em.execute<{ endpointKey: number; lane: string }[]>(
      `select l.endpoint_key as "endpointKey", l.lane from ${rowsOf(dialect)}
       join delivery_lane l on l.endpoint_key = ${item(0, 'int')} and l.lane = ${item(1, 'text')}
       where l.holder = ? ${lock}`,
      [JSON.stringify(lanes), this.#holder],
    );
    return new Set(rows.map(({ endpointKey, lane }) => nameOf(endpointKey, lane)));
  }

  async #setTimes(em: EntityManager, times: readonly (readonly [number, string, number])[]): Promise<void> {
    if (times.length === 0) return;
    const { dialect } = this.#database;
    const item = itemOf(dialect);
    await em.execute(
      `update delivery_lane set next_at = ${item(2, 'bigint')}, holder = null from ${rowsOf(dialect)}
       where delivery_lane.endpoint_key = ${item(0, 'int')} and delivery_lane.lane = ${item(1, 'text')}`,
      [JSON.stringify(times)],
      'run',
    );
  }

  /** Deletes those of the lanes, held by this transaction, where nothing waits. */
  async #endLanes(em: EntityManager, lanes: readonly (readonly [number, string])[]): Promise<void> {
    if (lanes.length === 0) return;
    const { dialect } = this.#database;
    const item = itemOf(dialect);
    await em.execute(
      `delete from delivery_lane where (endpoint_key, lane) in (
         select ${item(0, 'int')}, ${item(1, 'text')} from ${rowsOf(dialect)} where not exists (
           select 1 from delivery d where d.endpoint_key = ${item(0, 'int')} and d.lane = ${item(1, 'text')} and d.status = 'WAITING'))`,
      [JSON.stringify(lanes)],
      'run',
    );
  }
}

function itemOf(dialect: Database['dialect']): (at: number, type: string) => string {
  return (at, type) => (dialect === 'sqlite' ? `value->>${at}` : `(value->>${at})::${type}`);
}

function nameOf(endpointKey: number, lane: string): string {
  return `${endpointKey} ${lane}`;
}
