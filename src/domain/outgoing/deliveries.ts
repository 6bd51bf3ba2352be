import type { EntityManager } from '@mikro-orm/sql';
import { badInput, notFound } from '../../errors.ts';
import { Lane } from '../../scheduling/lane.ts';
import { LANES } from '../../scheduling/lanes.ts';
import type { LiveQueue } from '../../scheduling/bounded-stream.ts';
import type { Access } from '../access/access.ts';
import type { Endpoint } from '../entities/endpoint.ts';
import type { Database } from '../ports/database.ts';
import type { Transmitter } from '../ports/transmitter.ts';
import { rowsOf } from '../sql/json-rows.ts';
import { placeholders } from '../sql/long-columns.ts';
import { type Page, pageOf } from '../sql/page.ts';
import { uuidV7 } from '../text/uuid.ts';
import { DeliveryExchange } from './delivery-exchange.ts';
import type { DeliveryFeed } from './delivery-feed.ts';
import { countDeliveries, type Delivery, type DeliveryStatus, readDeliveries, readDelivery } from './delivery-rows.ts';
import type { EndpointService } from './endpoint-service.ts';
import type { EventType } from './event-types.ts';
import { bodyOf } from './outbox.ts';
import { sampleData } from './sample-event.ts';
import { transmit } from './transmit.ts';

/** Maximum deliveries sent again per call. */
const MAX_RETRIED = 10_000;
/** Maximum ids per call. */
const MAX_IDS = 1_000;

interface DeliveriesDeps {
  database: Database;
  endpoints: EndpointService;
  transmitter: Transmitter;
  feed: DeliveryFeed;
  /** Called when something waits that did not before. */
  onWake: () => void;
  now: () => number;
}

/** Which deliveries are to be sent again. */
interface RetryChoice {
  deliveryIds?: readonly string[] | null;
  /** When they were created, in ms UTC: start inclusive, end exclusive. */
  from?: number | null;
  to?: number | null;
  dryRun?: boolean | null;
}

/** What was sent through endpoints, and what is to be (CONTRACT 13). */
export class Deliveries {
  readonly #deps: DeliveriesDeps;
  readonly #tests = new Lane(LANES.endpointTests);

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps;
  }

  /** A page of an endpoint's deliveries, newest first, behind the key `after`. */
  async page(
    access: Access,
    endpoint: Endpoint,
    statuses: readonly DeliveryStatus[],
    limit: number,
    after: number | null,
  ): Promise<Page<Delivery>> {
    access.requireWorkspace(endpoint.workspace.id, 'READ');
    return pageOf(await readDeliveries(this.#deps.database.read(), endpoint.key, { statuses, after, limit }), limit);
  }

  /** Number of deliveries on all pages together. */
  async count(access: Access, endpoint: Endpoint, statuses: readonly DeliveryStatus[]): Promise<number> {
    access.requireWorkspace(endpoint.workspace.id, 'READ');
    return countDeliveries(this.#deps.database.read(), endpoint.key, statuses);
  }

  /**
   * Sends a sample of the first event that the endpoint wants, at once and once, whether it is on or not; resolves with
   * what it came to.
   */
  async test(access: Access, endpointId: string): Promise<Delivery> {
    const { database, endpoints, transmitter, feed, now } = this.#deps;
    const endpoint = await endpoints.getForChange(access, endpointId);
    return this.#tests.use(access, async () => {
      const [target] = await new DeliveryExchange(database, '').targets(database.read(), [endpoint.key], now());
      if (target === undefined) throw notFound('endpoint', endpointId);
      const at = now();
      const id = uuidV7(at);
      const type = (endpoint.events[0] ?? 'alert.fired') as EventType;
      const messageId = `msg_${id.replaceAll('-', '')}`;
      const message = { messageId, type, body: bodyOf(type, new Date(at), sampleData(type, new Date(at))) };
      const { result, attempt } = await transmit(transmitter, target, message, now);
      const row = {
        id,
        endpoint_key: endpoint.key,
        message_id: messageId,
        lane: messageId,
        type,
        status: result.isDone ? 'DELIVERED' : 'DEAD',
        created_at: at,
        settled_at: now(),
        tries: 1,
        attempts: JSON.stringify([attempt]),
        body: message.body,
      };
      const delivery = await database.write(async (em) => {
        await em.execute(
          `insert into delivery (${Object.keys(row).join(', ')}) values (${placeholders(Object.keys(row))})`,
          Object.values(row),
          'run',
        );
        return readDelivery(em, id);
      });
      feed.publish([{ endpointKey: endpoint.key, id }]);
      return delivery!;
    });
  }

  /**
   * Sends DEAD deliveries again, or counts them: those of a time, or those named, which may also be DELIVERED, or
   * WAITING for their next try. Their tries begin anew, with the secret of today.
   */
  async retry(access: Access, endpointId: string, choice: RetryChoice): Promise<number> {
    const { deliveryIds, dryRun } = choice;
    if (deliveryIds != null && (deliveryIds.length === 0 || deliveryIds.length > MAX_IDS))
      throw badInput(`deliveryIds: name 1 to ${MAX_IDS}, not ${deliveryIds.length}; leave it out for a time.`);
    const { database, endpoints, feed, onWake, now } = this.#deps;
    const endpoint = await endpoints.getForChange(access, endpointId);
    const { where, of } = condition(endpoint.key, choice);
    const find = (em: EntityManager): Promise<{ key: number | string; id: string; lane: string }[]> =>
      em.execute(`select "key", id, lane from delivery where ${where} order by "key" limit ${MAX_RETRIED}`, of);
    if (dryRun === true) return (await find(database.read())).length;
    const ids = await database.write(async (em) => {
      const rows = await find(em);
      await this.#wait(em, endpoint.key, [...new Set(rows.map(({ lane }) => lane))], now());
      for (let at = 0; at < rows.length; at += MAX_IDS) {
        const keys = rows.slice(at, at + MAX_IDS).map(({ key }) => key);
        await em.execute(
          `update delivery set status = 'WAITING', settled_at = null, tries = 0
           where "key" in (${placeholders(keys)}) and status <> 'WAITING'`,
          keys,
          'run',
        );
      }
      return rows.map(({ id }) => id);
    });
    feed.publish(ids.slice(0, MAX_IDS).map((id) => ({ endpointKey: endpoint.key, id })));
    onWake();
    return ids.length;
  }

  /** What changes of the endpoint's deliveries from now on. */
  async subscribe(access: Access, endpointId: string): Promise<LiveQueue<Delivery>> {
    const { endpoints, feed } = this.#deps;
    const endpoint = await endpoints.get(access, endpointId);
    access.requireWorkspace(endpoint.workspace.id, 'READ');
    return feed.subscribe(endpoint.key, access.tenant);
  }

  /** Makes lanes due, in the order in which others lock them; one that is being sent stays with its sender. */
  async #wait(em: EntityManager, endpointKey: number, lanes: readonly string[], now: number): Promise<void> {
    const { dialect } = this.#deps.database;
    const lane = dialect === 'sqlite' ? 'value->>0' : '(value->>0)::text collate "C"';
    await em.execute(
      `insert into delivery_lane (endpoint_key, lane, next_at) select ${endpointKey}, ${lane}, ${now}
       from ${rowsOf(dialect)} where true order by 2
       on conflict (endpoint_key, lane) do update set next_at =
         case when delivery_lane.holder is null then excluded.next_at else delivery_lane.next_at end`,
      [JSON.stringify(lanes.map((each) => [each]))],
      'run',
    );
  }
}

function condition(
  endpointKey: number,
  { deliveryIds, from, to }: RetryChoice,
): { where: string; of: (string | number)[] } {
  const where = ['endpoint_key = ?'];
  const of: (string | number)[] = [endpointKey];
  const add = (part: string, ...values: (string | number)[]): void => {
    where.push(part);
    of.push(...values);
  };
  if (deliveryIds == null) add("status = 'DEAD'");
  else {
    const ids = deliveryIds.map((id) => id.replaceAll('\0', '').toLowerCase());
    add(`id in (${placeholders(ids)})`, ...ids);
  }
  if (from != null) add('created_at >= ?', from);
  if (to != null) add('created_at < ?', to);
  return { where: where.join(' and '), of };
}
