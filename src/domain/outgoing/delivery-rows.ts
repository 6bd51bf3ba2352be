import type { EntityManager } from '@mikro-orm/sql';
import type { Database } from '../ports/database.ts';
import { bytesSql, placeholders } from '../sql/long-columns.ts';

/** What can become of a delivery (CONTRACT 13). */
export const DELIVERY_STATUSES = ['WAITING', 'DELIVERED', 'DEAD'] as const;

/** WAITING: to be tried, perhaps again; DEAD: not tried any more. */
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One try of a delivery, as it is kept. Times in ms. */
export interface DeliveryAttempt {
  at: number;
  httpStatus?: number | null;
  error?: string | null;
  durationMs: number;
  answer?: string | null;
}

/** A delivery without its long parts (`readDeliveryTexts`); `nextAttemptAt` null: it is not WAITING, or waits for another. */
export interface Delivery {
  key: number;
  id: string;
  endpointKey: number;
  type: string;
  status: DeliveryStatus;
  createdAt: number;
  nextAttemptAt: number | null;
}

/** The long parts of a delivery, as they are stored; `attempts`: JSON of `DeliveryAttempt[]`. */
export interface DeliveryTexts {
  body: string;
  attempts: string;
}

/** Maximum bytes of a delivery's long parts, for estimates where they cannot be measured. */
const TYPICAL_BYTES = 32_768;

/** A row as it is read: PostgreSQL gives a bigint as text. */
export type Numbers<Row, Keys extends keyof Row> = Omit<Row, Keys> & {
  [Key in Keys]: number | string | (null extends Row[Key] ? null : never);
};

interface DeliveryQuery {
  statuses: readonly DeliveryStatus[];
  /** The key of the last one seen; null: from the newest. */
  after: number | null;
  limit: number;
}

/** Only the first of a lane is tried next: the others wait for it, whenever that is. */
const COLUMNS = `d."key", d.id, d.endpoint_key as "endpointKey", d.type, d.status, d.created_at as "createdAt",
  case when d.status = 'WAITING' and not exists (select 1 from delivery e where e.endpoint_key = d.endpoint_key
    and e.lane = d.lane and e.status = 'WAITING' and e."key" < d."key") then l.next_at end as "nextAttemptAt"`;
const FROM = 'delivery d left join delivery_lane l on l.endpoint_key = d.endpoint_key and l.lane = d.lane';

/** A page of an endpoint's deliveries, newest first, with one more than `limit` if there are more. */
export async function readDeliveries(
  em: EntityManager,
  endpointKey: number,
  { statuses, after, limit }: DeliveryQuery,
): Promise<Delivery[]> {
  // One look-up for each status: together they would go through those of the others.
  const found: Delivery[] = [];
  for (const status of statuses)
    found.push(
      ...(await rowsOf(em, `d.endpoint_key = ? and d.status = ? and d."key" < ?`, limit + 1, [
        endpointKey,
        status,
        after ?? Number.MAX_SAFE_INTEGER,
      ])),
    );
  return found.toSorted((one, other) => other.key - one.key).slice(0, limit + 1);
}

/** One delivery; null: there is none with that id. */
export async function readDelivery(em: EntityManager, id: string): Promise<Delivery | null> {
  const [row] = await rowsOf(em, 'd.id = ?', 1, [id]);
  return row ?? null;
}

/** Number of an endpoint's deliveries with one of the statuses. */
export async function countDeliveries(
  em: EntityManager,
  endpointKey: number,
  statuses: readonly DeliveryStatus[],
): Promise<number> {
  const [row] = await em.execute<{ count: number | string }[]>(
    `select count(*) as count from delivery where endpoint_key = ? and status in (${placeholders(statuses)})`,
    [endpointKey, ...statuses],
  );
  return Number(row!.count);
}

/** Approximate bytes of the long parts of each delivery, by their ids. */
export async function deliverySizes(database: Database, ids: readonly string[]): Promise<number[]> {
  const [body, attempts] = ['body', 'attempts'].map(
    (column) => `coalesce(${bytesSql(database.dialect, column)}, ${TYPICAL_BYTES})`,
  );
  const rows = await database
    .read()
    .execute<{ id: string; bytes: number }[]>(
      `select id, ${body} + ${attempts} as bytes from delivery where id in (${placeholders(ids)})`,
      [...ids],
    );
  const byId = new Map(rows.map((row) => [row.id, Number(row.bytes)]));
  return ids.map((id) => byId.get(id) ?? 0);
}

/** Id of a delivery → its long parts. */
export async function readDeliveryTexts(
  database: Database,
  ids: readonly string[],
): Promise<Map<string, DeliveryTexts>> {
  const rows = await database
    .read()
    .execute<({ id: string } & DeliveryTexts)[]>(
      `select id, body, attempts from delivery where id in (${placeholders(ids)})`,
      [...ids],
    );
  return new Map(rows.map(({ id, body, attempts }) => [id, { body, attempts }]));
}

async function rowsOf(em: EntityManager, where: string, limit: number, values: unknown[]): Promise<Delivery[]> {
  const rows = await em.execute<Numbers<Delivery, 'key' | 'createdAt' | 'nextAttemptAt'>[]>(
    `select ${COLUMNS} from ${FROM} where ${where} order by d."key" desc limit ${limit}`,
    values,
  );
  return rows.map((row) => ({
    ...row,
    key: Number(row.key),
    createdAt: Number(row.createdAt),
    nextAttemptAt: row.nextAttemptAt === null ? null : Number(row.nextAttemptAt),
  }));
}
