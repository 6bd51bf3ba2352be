import type { EntityManager } from '@mikro-orm/sql';
import type { Database, Dialect } from '../ports/database.ts';
import { deviceIdentity } from '../text/device-identity.ts';
import { TransactionSlices } from '../../scheduling/yield-to-event-loop.ts';
import { columnOf } from '../ingest-cache/device-rows.ts';
import type { Outbox } from '../outgoing/outbox.ts';
import { readToldProducts } from '../outgoing/told-devices.ts';
import { addedUp, rowsOf } from '../sql/json-rows.ts';
import { placeholders } from '../sql/long-columns.ts';
import type { Network } from '../networks/network-event.ts';
import { uuidV7 } from '../text/uuid.ts';
import { lockWorkspace } from '../accounts/lock-workspace.ts';
import { must } from '../../must.ts';

/**
 * Maximum unknown devices per workspace, for networks and for webhooks each; the one heard of longest ago is evicted
 * first.
 */
export const MAX_UNKNOWN_DEVICES = 1_000;
/** Number of devices seen once above which those are evicted first: made-up names are many, and do not come again. */
const MAX_SEEN_ONCE = 500;
/** Maximum calls per identifier; the oldest are deleted. */
const MAX_CALLS = 100;
/** Devices per statement that trims calls. */
const TRIMMED_AT_ONCE = 25;
/** Maximum new identifiers told per transaction: made-up names are many. */
const MAX_TOLD = 20;
/** Calls deleted per statement, of up to 64 KiB each. */
const DELETED_AT_ONCE = 100;

/**
 * A call of an unknown device; `isAmbiguous`: several devices have the identifier, and it is kept whatever device has
 * it by now. `kept`: the columns to keep; null: the call is only counted.
 */
export interface UnknownCallSeen {
  network: Network | 'webhook';
  identifier: string;
  isAmbiguous: boolean;
  receivedAt: number;
  kept: { id: string; callId?: string; path: string; query: string; headers: string; body: string } | null;
  /** The product whose webhook got the name; left out for networks. Calls of one batch are all of one kind. */
  product?: { key: number; id: string };
}

interface Sighting {
  identity: string;
  identifier: string;
  network: Network | 'webhook';
  productKey: number | null;
  firstSeenAt: number;
  lastSeenAt: number;
  seen: number;
  ambiguousAt: number | null;
}

interface DeviceRow {
  id: string;
  identity: string;
  seen: number;
}

/** Counts and keeps calls of one workspace in a transaction of their own, as `writeUnknownCalls` does. */
export async function writeRound(
  { database, outbox }: { database: Database; outbox: Outbox },
  workspaceId: string,
  seen: readonly UnknownCallSeen[],
): Promise<boolean[]> {
  const kept = await database.write((em) => writeUnknownCalls(em, database.dialect, workspaceId, seen, outbox), {
    tokenId: workspaceId,
    tenant: workspaceId,
  });
  outbox.wake();
  return kept;
}

/**
 * Counts and keeps calls of one workspace within the transaction of `em`, in few statements however many they are.
 * Returns for each whether it was kept; false: a device has the identifier by now. Locks the workspace, so that batches
 * of several nodes follow each other and their counts add up, and an adoption finds every call, or the call's sender
 * the device.
 */
export async function writeUnknownCalls(
  em: EntityManager,
  dialect: Dialect,
  workspaceId: string,
  seen: readonly UnknownCallSeen[],
  outbox: Pick<Outbox, 'write'>,
): Promise<boolean[]> {
  await lockWorkspace(em, workspaceId);
  const ofNetworks = seen.filter(({ product }) => product === undefined).map(identityOf);
  const known = await knownOf(em, workspaceId, new Set(ofNetworks));
  const isUnknown = seen.map((call) => call.isAmbiguous || !known.has(identityOf(call)));
  const calls = seen.filter((_, at) => isUnknown[at]);
  if (calls.length === 0) return isUnknown;
  const devices = await countDevices(em, dialect, workspaceId, sightingsOf(calls));
  await tellNew(em, outbox, workspaceId, devices, calls);
  await keepCalls(em, dialect, new Map(devices.map(({ identity, id }) => [identity, id])), calls);
  const full = devices.filter(({ seen }) => seen > MAX_CALLS);
  const turns = new TransactionSlices();
  await forgetOldCalls(em, full, turns);
  await forgetOldDevices(em, workspaceId, must(calls[0]).product === undefined, turns);
  return isUnknown;
}

/** The identities that a device has. A product in deletion has no devices any more: none can be found. */
async function knownOf(em: EntityManager, workspaceId: string, among: ReadonlySet<string>): Promise<Set<string>> {
  const known = new Set<string>();
  for (const [column, asked] of Map.groupBy(among, columnOf)) {
    const rows = await em.execute<{ identity: string }[]>(
      `select d.${column} as identity from device d join product p on p."key" = d.product_key and p.deleted_at is null ` +
        `where d.workspace_id = ? and d.${column} in (${placeholders(asked)})`,
      [workspaceId, ...asked],
    );
    for (const { identity } of rows) known.add(identity);
  }
  return known;
}

/** Identity within the workspace: the name on a webhook belongs to its product alone. */
function identityOf({ identifier, product }: UnknownCallSeen): string {
  const identity = deviceIdentity(identifier);
  return product === undefined ? identity : `${product.id} ${identity}`;
}

/** Calls grouped by identity, always in the same order. */
function sightingsOf(calls: readonly UnknownCallSeen[]): Sighting[] {
  const sightings = new Map<string, Sighting>();
  for (const call of calls) {
    const { identifier, network, isAmbiguous, receivedAt } = call;
    const identity = identityOf(call);
    const productKey = call.product?.key ?? null;
    const first = { firstSeenAt: receivedAt, lastSeenAt: receivedAt, seen: 0, ambiguousAt: null };
    const before = sightings.get(identity) ?? first;
    const lastSeenAt = Math.max(before.lastSeenAt, receivedAt);
    const ambiguousAt = isAmbiguous ? lastSeenAt : before.ambiguousAt;
    const seen = before.seen + 1;
    sightings.set(identity, { ...before, identity, identifier, network, productKey, lastSeenAt, seen, ambiguousAt });
  }
  return [...sightings.values()].sort((one, other) => (one.identity < other.identity ? -1 : 1));
}

/** Tells endpoints of identifiers that were never seen, in the transaction that notes them. */
async function tellNew(
  em: EntityManager,
  outbox: Pick<Outbox, 'write'>,
  workspaceId: string,
  devices: readonly DeviceRow[],
  calls: readonly UnknownCallSeen[],
): Promise<void> {
  const ofDevice = Map.groupBy(calls, identityOf);
  const firsts = devices.flatMap(({ id, identity, seen }) => {
    const own = ofDevice.get(identity) ?? [];
    return own.length === seen ? [{ id, call: must(own[0]) }] : [];
  });
  const told = firsts.slice(0, MAX_TOLD);
  if (told.length === 0) return;
  const products = await readToldProducts(em, [...new Set(told.flatMap(({ call }) => call.product?.id ?? []))]);
  await outbox.write(
    em,
    told.map(({ id, call: { identifier, network, receivedAt, kept, product } }) => {
      const at = new Date(receivedAt);
      return {
        key: `device.unknown ${id}`,
        type: 'device.unknown' as const,
        workspaceId,
        productId: product?.id ?? null,
        deviceId: null,
        tags: [],
        endpointIds: null,
        at,
        data: {
          identifier,
          network,
          product: product === undefined ? null : (products.get(product.id)?.product ?? null),
          call: kept && { id: kept.callId ?? kept.id, receivedAt: at.toISOString() },
        },
      };
    }),
  );
}

function countDevices(
  em: EntityManager,
  dialect: Dialect,
  workspaceId: string,
  sightings: readonly Sighting[],
): Promise<DeviceRow[]> {
  const rows = sightings.map(
    ({ identity, identifier, network, firstSeenAt, lastSeenAt, seen, ambiguousAt, productKey }) => [
      uuidV7(firstSeenAt),
      identity,
      identifier,
      network,
      firstSeenAt,
      lastSeenAt,
      seen,
      ambiguousAt,
      productKey,
    ],
  );
  return em.execute<DeviceRow[]>(
    'insert into unknown_device (workspace_id, id, identity, identifier, network, first_seen_at, last_seen_at, seen, ' +
      'ambiguous_at, product_key) select ?, value->>0, value->>1, value->>2, value->>3, cast(value->>4 as bigint), cast(value->>5 as bigint), ' +
      // SQLite needs a condition, or it takes "on" for that of a join.
      `cast(value->>6 as integer), cast(value->>7 as bigint), cast(value->>8 as integer) from ${rowsOf(dialect)} where true on conflict (workspace_id, identity) do update set ` +
      'ambiguous_at = coalesce(excluded.ambiguous_at, unknown_device.ambiguous_at), ' +
      `identifier = excluded.identifier, network = excluded.network, seen = ${addedUp('unknown_device', 'seen')}, ` +
      'last_seen_at = case when excluded.last_seen_at > unknown_device.last_seen_at then excluded.last_seen_at ' +
      'else unknown_device.last_seen_at end returning id, identity, seen',
    [workspaceId, JSON.stringify(rows)],
  );
}

async function keepCalls(
  em: EntityManager,
  dialect: Dialect,
  devices: ReadonlyMap<string, string>,
  calls: readonly UnknownCallSeen[],
): Promise<void> {
  const rows = calls.flatMap((call) => {
    const { receivedAt, kept } = call;
    return kept === null
      ? []
      : [
          [
            kept.id,
            devices.get(identityOf(call)),
            receivedAt,
            kept.path,
            kept.query,
            kept.headers,
            kept.body,
            kept.callId ?? null,
          ],
        ];
  });
  if (rows.length === 0) return;
  await em.execute(
    'insert into unknown_call (id, unknown_device_id, received_at, path, query, headers, body, call_id) select value->>0, ' +
      `value->>1, cast(value->>2 as bigint), value->>3, value->>4, value->>5, value->>6, value->>7 from ${rowsOf(dialect)}`,
    [JSON.stringify(rows)],
    'run',
  );
}

async function forgetOldCalls(
  em: EntityManager,
  devices: readonly DeviceRow[],
  turns: TransactionSlices,
): Promise<void> {
  for (let at = 0; at < devices.length; at += TRIMMED_AT_ONCE) {
    await turns.next();
    const ids = devices.slice(at, at + TRIMMED_AT_ONCE).map(({ id }) => id);
    const ranked =
      'select id, row_number() over (partition by unknown_device_id order by id desc) as place from unknown_call ' +
      `where unknown_device_id in (${placeholders(ids)})`;
    const surplus = `select id from (${ranked}) as ranked where place > ?`;
    await em.execute(`delete from unknown_call where id in (${surplus})`, [...ids, MAX_CALLS], 'run');
  }
}

/**
 * Evicts unknown devices. Networks and webhooks have separate maximums, as a network's only copy of a call may be here.
 */
async function forgetOldDevices(
  em: EntityManager,
  workspaceId: string,
  ofNetworks: boolean,
  turns: TransactionSlices,
): Promise<void> {
  const where = `workspace_id = ? and product_key is ${ofNetworks ? 'null' : 'not null'}`;
  const [count] = await em.execute<{ devices: number }[]>(
    `select count(*) as devices from unknown_device where ${where}`,
    [workspaceId],
  );
  const surplus = Number(must(count).devices) - MAX_UNKNOWN_DEVICES;
  if (surplus <= 0) return;
  const ranked =
    'select id, seen, last_seen_at, row_number() over (partition by case when seen = 1 then 1 else 0 end ' +
    `order by last_seen_at desc, id desc) as place from unknown_device where ${where}`;
  const oldest = await em.execute<{ id: string; calls: number }[]>(
    // Count the calls of the evicted devices alone.
    'select id, (select count(*) from unknown_call where unknown_device_id = oldest.id) as calls from (' +
      `select id from (${ranked}) as ranked ` +
      'order by case when seen = 1 and place > ? then 0 else 1 end, last_seen_at, id limit ?) as oldest',
    [workspaceId, MAX_SEEN_ONCE, surplus],
  );
  let [ids, calls]: [string[], number] = [[], 0];
  for (const device of oldest) {
    if (ids.length > 0 && calls + Number(device.calls) > DELETED_AT_ONCE) {
      await forgetDevices(em, ids);
      await turns.next();
      [ids, calls] = [[], 0];
    }
    ids.push(device.id);
    calls += Number(device.calls);
  }
  await forgetDevices(em, ids);
}

async function forgetDevices(em: EntityManager, ids: readonly string[]): Promise<void> {
  await em.execute(`delete from unknown_device where id in (${placeholders(ids)})`, [...ids], 'run');
}
